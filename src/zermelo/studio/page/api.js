/** The server: requests that outlive a lost connection, and thoughts that arrive as they deepen. */

/** What the server refuses, in its own words. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const PATIENCE = 4;
// Too many requests at once, or the store is locked by another program: worth trying again.
const PASSING = [429, 503];
// A random id, so that the server can share its time fairly among the pages open at one address.
const CLIENT = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const PROMPT = 600; // ms after which an answer is late
let isLost = false;
const listeners = new Set();
const lateListeners = new Set();

/** Calls back with true when the connection is lost and with false when it is there again. */
export function onConnection(listener) {
  listeners.add(listener);
}

function setLost(lost) {
  if (lost !== isLost) for (const listener of listeners) listener(lost);
  isLost = lost;
}

/** Calls `listener` with the promise of every answer that is late. */
export function onLate(listener) {
  lateListeners.add(listener);
}

/** Waits for an answer, and tells the listeners when it is late. */
async function awaited(answer) {
  const late = setTimeout(() => { for (const listener of lateListeners) listener(answer); }, PROMPT);
  try {
    return await answer;
  } finally {
    clearTimeout(late);
  }
}

export const pause = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

/** Whether an error only says that the view is gone. */
export const isGone = (error) => error?.name === 'AbortError';

/** A fetch that is tried again while nobody answers. `once`: for what must not happen twice. */
async function reach(path, options, once = false) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 4000)) {
    try {
      const answer = await fetch(path, { ...options, headers: { ...options.headers, 'Zermelo-Client': CLIENT } });
      setLost(false);
      return answer;
    } catch (error) {
      if (isGone(error)) throw error;
      setLost(true);
      if (once) throw new Refusal(0, 'The server does not answer. Please try again.');
      await pause(wait, options.signal);
    }
  }
}

async function refusal(answer) {
  const body = await answer.json().catch(() => null);
  const detail = body?.detail;
  // A body that does not fit the schema is refused with a list of what is wrong.
  const words = Array.isArray(detail) ? detail.map((part) => part.msg).join('; ') : detail;
  return new Refusal(answer.status, words || `The server answered ${answer.status}.`);
}

function request(method, path, options) {
  return awaited(send(method, path, options));
}

async function send(method, path, { body, signal, once } = {}) {
  const options = { method, signal, headers: {} };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  for (let tries = 1; ; tries += 1) {
    const answer = await reach(`/api/v1/${path}`, options, once);
    if (answer.ok) return answer.json();
    if (!PASSING.includes(answer.status) || tries === PATIENCE) throw await refusal(answer);
    await pause(700 * tries, signal);
  }
}

/** Asks what the server is preparing. It is asked while another answer is late, so it never counts as late itself. */
export const preparation = () => send('GET', 'preparation', { once: true });

const kept = new Map();

/** Answers that never change while the page is open. */
function keep(path) {
  if (!kept.has(path)) kept.set(path, request('GET', path).catch((error) => { kept.delete(path); throw error; }));
  return kept.get(path);
}

const query = (params) => new URLSearchParams(Object.entries(params).filter(([, value]) => value != null && value !== ''));

export const games = () => keep('games');
export const players = () => keep('players');
export const formats = (game) => keep(`formats?${query({ game })}`);
export const recent = (signal) => request('GET', 'matches?limit=6', { signal });
export const create = (body) => request('POST', 'matches', { body });
export const match = (id, signal) => request('GET', `matches/${encodeURIComponent(id)}`, { signal });
export const move = (id, name, ply, signal) => act(id, 'moves', { move: name, ply }, { signal });
export const reply = (id, signal) => act(id, 'reply', {}, { signal });
export const undo = (id, plies) => act(id, 'undo', { plies }, { once: true });
export const resign = (id) => act(id, 'resign', {}, { once: true });
export const position = (game, moves, signal) => request('POST', 'position', { body: { game, moves }, signal });
export const puzzle = (params, signal) => request('GET', `puzzle?${query(params)}`, { signal });
export const exported = (body) => request('POST', 'export', { body });
export const imported = (body) => request('POST', 'import', { body });

function act(id, what, body, options) {
  return request('POST', `matches/${encodeURIComponent(id)}/${what}`, { body, ...options });
}

/**
 * Server-sent events by fetch: unlike EventSource it tells what the server says when it refuses. `take(event, data)` is
 * called for each; resolves when the server is done, and starts anew when the connection breaks in between.
 */
export async function stream(path, params, take, signal) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 4000)) {
    const answer = await reach(`/api/v1/${path}?${query(params)}`, { signal });
    if (!answer.ok) throw await refusal(answer);
    let begun;
    awaited(new Promise((resolve) => { begun = resolve; }));
    try {
      for await (const [event, data] of events(answer.body)) {
        begun();
        if (event === 'done') return;
        if (event === 'problem') throw new Refusal(500, data.detail);
        take(event, data);
      }
      return;
    } catch (error) {
      if (isGone(error) || error instanceof Refusal) throw error;
      setLost(true);
      await pause(wait, signal);
    } finally {
      begun();
    }
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r\n\r\n|\n\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = block.split(/\r?\n/).map((line) => line.split(/: ?(.*)/s));
      const event = fields.find(([name]) => name === 'event')?.[1] ?? 'message';
      const data = fields.filter(([name]) => name === 'data').map(([, text]) => text).join('\n');
      if (data || event === 'done') yield [event, data ? JSON.parse(data) : null];
    }
  }
}

/** The same for the same question. */
export const keyOf = ({ game, moves }, player) => [player, game, ...moves].join(' ');

/** One position being thought about, by the analyst or a named player: the latest record, and word of every new one. */
export class Thought {
  constructor({ game, moves }, seconds, player = '') {
    this.latest = null;
    this.error = null;
    this.done = false;
    this.seconds = seconds;
    this.key = keyOf({ game, moves }, player);
    this._listeners = new Set();
    this._gone = new AbortController();
    const take = (event, record) => { if (event === 'analysis') { this.latest = record; this._tell(); } };
    stream('analysis', { game, moves: moves.join(' '), player, seconds }, take, this._gone.signal)
      .catch((error) => { if (!isGone(error)) this.error = error; })
      .finally(() => { this.done = true; this._tell(); });
  }

  listen(listener) {
    this._listeners.add(listener);
    listener();
  }

  /** The first record that is good enough, or the latest when time is up; null where there is none. */
  until(enough, ms) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(this.latest), ms);
      this.listen(() => {
        if (!this.done && !(this.latest && enough(this.latest))) return;
        clearTimeout(timer);
        if (this.error && !this.latest) reject(this.error);
        else resolve(this.latest);
      });
    });
  }

  close() {
    this._listeners.clear();
    this._gone.abort();
  }

  _tell() {
    for (const listener of [...this._listeners]) listener();
  }
}
