/** Review: a game step by step, judged move by move: the value over the game, mistakes, what was better, and why. */
import * as api from './api.js';
import { announce, button, choice, h, memory, s } from './dom.js';
import { Board } from './board.js';
import { Mind, Thinking } from './thinking.js';
import { isShortcut } from './play.js';
import { importDialog, linkTo, shareDialog } from './records.js';
import { capital, hybridOf, isHuman, moveText, title, who } from './words.js';

const [WIDTH, HEIGHT, EDGE, LEFT] = [360, 130, 14, 28];
const THINKING = 20; // seconds
const SIGNS = { mistake: '?', slip: '?!' };

export async function reviewView(main, params, signal) {
  const match = params.has('match') ? await api.match(params.get('match'), signal) : null;
  const game = match?.game ?? params.get('game');
  const moves = match?.moves ?? (params.get('moves') ?? '').split(/[\s,]+/).filter(Boolean);
  // The last position first: it says whether the moves are legal, and names them as the game does.
  const end = await api.position(game, moves, signal);
  if (signal.aborted) return;
  const review = new Review(main, signal, match, end);
  await review.go(params.has('ply') ? Number(params.get('ply')) || 0 : moves.length);
  if (match) review.judge();
}

class Review {
  constructor(main, signal, match, end) {
    Object.assign(this, { _signal: signal, _match: match, _end: end, _moves: end.moves, _game: end.game });
    this._positions = new Map([[end.moves.length, end]]);
    this._plies = [];
    this._ply = 0;
    this._board = new Board(() => {});
    this._mind = new Mind(signal);
    this._thinking = new Thinking(this._board, signal);
    this._isThinking = false;
    this._as = 'other';
    this._parts(main);
    addEventListener('keydown', (event) => this._key(event), { signal });
  }

  _parts(main) {
    const { _match: match, _moves: moves } = this;
    document.title = `Review: ${title(this._game)} – Zermelo`;
    this._verdict = h('div', { class: 'verdict', 'data-testid': 'verdict' });
    this._comment = h('div', { class: 'note comment', role: 'status', 'data-testid': 'comment' });
    this._progress = h('p', { class: 'quiet', 'data-testid': 'progress' });
    this._graph = s('svg', { class: 'graph', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'data-testid': 'graph',
      role: 'slider', tabindex: 0, 'aria-label': 'Move', 'aria-valuemin': 0, 'aria-valuemax': moves.length,
      on: { click: (event) => this._pick(event), pointermove: (event) => { if (event.buttons) this._pick(event); } } });
    this._judge = button('Judge the moves', 'judge', () => this.judge(), { class: 'primary', hidden: !moves.length });
    this._list = h('ol', { class: 'moves', 'data-testid': 'moves', 'aria-label': 'Moves' });
    this._items = moves.map((move, i) => button(
      moveText(i + 1, move, this._end.symbols[this._end.movers[i]], match ? who(match, this._end.movers[i]) : ''), `move-${i + 1}`, () => this.go(i + 1)));
    this._list.append(...this._items.map((item) => h('li', {}, item)));
    const step = (text, id, label, to) => button(text, id, () => this.go(to()), { 'aria-label': label, title: label });
    const [first, second] = this._end.symbols;
    const sides = [['other', 'the side to move'], ['first', first], ['second', second], ['both', 'both sides']];
    const toGame = match && h('a', { class: 'button', 'data-testid': 'to-game', href: `#match=${encodeURIComponent(match.id)}` },
      'Back to the game');
    this._thinkButton = button('Thinking', 'thinking', () => this._toggle(), { 'aria-pressed': 'false' });
    this._error = h('p', { class: 'error', role: 'alert', 'data-testid': 'error' });
    main.replaceChildren(h('div', { class: 'table' },
      h('section', { class: 'stage', 'aria-label': 'Position' },
        h('div', { class: 'top' }, h('h1', {}, title(this._game)), h('span', { class: 'quiet' }, match ? 'Review' : 'A game by link')),
        this._verdict, this._board.element,
        h('div', { class: 'row steps' },
          step('|◀', 'first', 'To the start', () => 0), step('◀', 'back', 'One move back', () => this._ply - 1),
          step('▶', 'forward', 'One move on', () => this._ply + 1), step('▶|', 'last', 'To the end', () => moves.length))),
      this._comment,
      h('aside', { class: 'side' },
        h('section', { class: 'card' }, h('h2', {}, 'Value'), this._judge, this._graph, this._progress),
        this._thinking.element,
        h('section', { class: 'card' }, h('h2', {}, 'Moves'), moves.length ? this._list : h('p', { class: 'quiet' }, 'None yet.')),
        h('div', { class: 'tools' }, toGame, this._thinkButton,
          button('Share, export', 'share', () => shareDialog(this._game, moves.slice(0, this._ply))),
          button('Import', 'import', importDialog)),
        h('section', { class: 'card branch' }, h('h2', {}, 'Play on from here'),
          h('div', { class: 'row' }, choice('You play', sides, this._as, (value) => { this._as = value; }, 'branch-as'),
            button('Play', 'branch', () => this._branch(), { class: 'primary' })), this._error))));
    this._drawGraph();
  }

  /** Shows the position after so many moves. */
  async go(ply) {
    this._ply = Math.max(0, Math.min(this._moves.length, ply));
    const wanted = this._ply;
    if (!this._positions.has(wanted)) {
      this._positions.set(wanted, await api.position(this._game, this._moves.slice(0, wanted), this._signal));
    }
    if (this._ply !== wanted || this._signal.aborted) return;
    const position = this._positions.get(wanted);
    this._board.show(position, false);
    const isEnd = wanted === this._moves.length;
    const verdict = isEnd && this._match ? this._match.verdict : position.verdict;
    this._verdict.replaceChildren(h('strong', {}, capital(verdict)), h('span', {}, ` · move ${wanted} of ${this._moves.length}`));
    this._items.forEach((item, i) => item.toggleAttribute('aria-current', i + 1 === wanted));
    const item = this._items[wanted - 1];
    if (item) this._list.scrollTop = item.offsetTop - this._list.offsetTop - this._list.clientHeight / 2;
    history.replaceState(null, '', this._address());
    this._drawGraph();
    this._explain();
    this._think();
  }

  _address() {
    if (this._match) return `#match=${encodeURIComponent(this._match.id)}&view=review&ply=${this._ply}`;
    return `${linkTo(this._game, this._moves)}${this._ply === this._moves.length ? '' : `&ply=${this._ply}`}`;
  }

  /** Asks for the judgement of every move; they arrive one by one. */
  async judge() {
    const count = this._moves.length;
    if (!count) { this._progress.textContent = 'There are no moves to judge yet.'; return; }
    this._judge.hidden = true;
    this._progress.textContent = 'Judging…';
    const take = (event, record) => {
      if (event !== 'ply') return;
      this._plies[record.ply] = record;
      this._progress.textContent = `Judging, ${record.ply} of ${count} moves…`;
      if (record.mistake) this._markItem(record);
      this._drawGraph();
      if (record.ply === this._ply) this._explain();
    };
    try {
      const asked = { game: this._game, moves: this._moves.join(' '), seconds: Math.min(40, 3 + 0.8 * count) };
      await api.stream('review', asked, take, this._signal);
      this._progress.textContent = this._summary();
      announce(this._progress.textContent);
    } catch (error) {
      if (api.isGone(error)) return;
      this._progress.textContent = error.message;
      this._judge.hidden = false;
    }
  }

  _summary() {
    return [0, 1].map((side) => {
      const faults = this._plies.filter((record) => record?.player === side && record.mistake);
      const said = Object.keys(SIGNS).flatMap((kind) => {
        const count = faults.filter(({ mistake }) => mistake === kind).length;
        return count ? [`${count} ${kind}${count > 1 ? 's' : ''}`] : [];
      });
      return `${this._end.symbols[side]}: ${said.join(', ') || 'no mistakes'}`;
    }).join(' · ');
  }

  _markItem(record) {
    const item = this._items[record.ply - 1];
    if (item.children.length) return;
    item.append(' ', h('span', { class: `fault ${record.mistake}`, 'data-testid': `mistake-${record.ply}` },
      `${SIGNS[record.mistake]} ${record.mistake}`));
  }

  /** What is to be said about the move that led here. */
  _explain() {
    const record = this._plies[this._ply];
    this._comment.hidden = !record;
    if (!record) return;
    const sure = h('span', { class: `badge${record.exact ? ' sure' : ''}` }, record.exact ? 'proven' : 'estimate');
    const head = record.ply ? moveText(record.ply, record.move, this._end.symbols[record.player]) : 'The start';
    const said = [record.words, ...record.reasons.map(({ text }) => text)].join(', ');
    const parts = [h('p', {}, h('strong', {}, `${head}: `), said, '. ', sure)];
    if (record.mistake) {
      const { move, cells, words, reasons } = record.better;
      const fault = h('span', { class: `fault ${record.mistake}` }, `${SIGNS[record.mistake]} ${capital(record.mistake)}.`);
      const why = reasons.map(({ text }) => text).join('; ') || words;
      parts.push(h('p', {}, fault, ' Better was ', h('strong', {}, move), `: ${why}.`));
      this._board.showRing(cells, 'better');
    }
    this._comment.replaceChildren(...parts);
  }

  _drawGraph() {
    const count = this._moves.length;
    const x = (ply) => LEFT + (ply * (WIDTH - LEFT - EDGE)) / Math.max(1, count);
    const y = (estimate) => HEIGHT / 2 - estimate * (HEIGHT / 2 - EDGE);
    const known = this._plies.filter(Boolean);
    const points = known.map((record) => `${x(record.ply).toFixed(1)} ${y(record.estimate).toFixed(1)}`);
    const [first, second] = this._end.symbols;
    this._graph.replaceChildren(
      s('path', { class: 'middle', d: `M${LEFT} ${HEIGHT / 2}H${WIDTH - EDGE}` }),
      s('text', { x: 8, y: EDGE + 5 }, first), s('text', { x: 8, y: HEIGHT - EDGE + 5 }, second),
      ...(points.length ? [
        s('path', { class: 'area', d: `M${x(known[0].ply)} ${HEIGHT / 2}L${points.join('L')}L${x(known.at(-1).ply)} ${HEIGHT / 2}Z` }),
        s('path', { class: 'curve', d: `M${points.join('L')}` })] : []),
      s('path', { class: 'cursor', d: `M${x(this._ply)} 0V${HEIGHT}` }),
      ...known.flatMap(({ ply, estimate, exact, mistake }) => [
        s('circle', { class: `dot ${mistake ?? ''} ${exact ? 'sure' : ''}`, cx: x(ply), cy: y(estimate), r: mistake ? 6 : 3 }),
        mistake ? s('text', { class: 'sign', x: x(ply), y: y(estimate) + (estimate > 0.5 ? 22 : -10) }, SIGNS[mistake]) : '',
      ]));
    const { move, words, mistake } = this._plies[this._ply] ?? {};
    this._graph.setAttribute('aria-valuenow', this._ply);
    this._graph.setAttribute('aria-valuetext', [`move ${this._ply}`, move, words, mistake].filter(Boolean).join(', '));
  }

  _pick(event) {
    const box = this._graph.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    const ply = Math.round(((at - LEFT) / (WIDTH - LEFT - EDGE)) * this._moves.length);
    if (ply !== this._ply) this.go(ply);
  }

  _think() {
    const position = this._positions.get(this._ply);
    const thought = this._isThinking && !position.over ? this._mind.think(position, THINKING) : null;
    if (!thought) this._mind.rest();
    this._thinking.follow(thought, this._match && hybridOf(this._match, position.to_move));
    if (this._plies[this._ply]?.better) this._board.showRing(this._plies[this._ply].better.cells, 'better');
  }

  _toggle() {
    this._isThinking = !this._isThinking;
    this._thinkButton.setAttribute('aria-pressed', String(this._isThinking));
    this._think();
  }

  /** A new match from here; this one stays as it is. */
  async _branch() {
    const { to_move: side } = this._positions.get(this._ply);
    const opponent = [this._match?.first, this._match?.second].find((spec) => spec && !isHuman(spec))
      ?? `level:${memory.read('start', {}).level ?? 3}`;
    const mine = { other: [side], first: [0], second: [1], both: [0, 1] }[this._as];
    const [first, second] = [0, 1].map((seat) => (mine.includes(seat) ? 'human' : opponent));
    try {
      const { id } = await api.create({ game: this._game, first, second, moves: this._moves.slice(0, this._ply) });
      location.hash = `match=${encodeURIComponent(id)}`;
    } catch (error) {
      this._error.textContent = error.message;
    }
  }

  _key(event) {
    if (!isShortcut(event)) return;
    const to = { ArrowLeft: this._ply - 1, ArrowRight: this._ply + 1, Home: 0, End: this._moves.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }
}
