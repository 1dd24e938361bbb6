/** A match at the board: the human's clicks, the computer's replies, hints, warnings, and thinking when it is asked for. */
import * as api from './api.js';
import { announce, button, checkbox, h, mark, memory } from './dom.js';
import { Board } from './board.js';
import { Mind, Thinking } from './thinking.js';
import { shareDialog } from './records.js';
import { capital, certainty, family, fault, humans, hybridOf, isHuman, moveText, outcomeWords, playerName, title, who, whyWords } from './words.js';

const THINKING = 20; // seconds of a live analysis
const WARNING = 3; // seconds of the analysis behind a warning
const WATCHING = 450; // ms between two moves of a game that is only watched

export async function playView(main, params, signal) {
  const match = await api.match(params.get('match'), signal);
  new Play(main, signal).update(match);
}

/** Whether a key is meant for the page, and not for a field or for the browser. */
export function isShortcut(event) {
  return !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest?.('input, select, textarea, dialog');
}

class Play {
  constructor(main, signal) {
    this._signal = signal;
    this._mind = new Mind(signal);
    this._board = new Board((move) => this._play(move));
    this._thinking = new Thinking(this._board, signal);
    this._isThinking = false;
    this._isReplying = false;
    this._warns = memory.read('start', {}).warn ?? false;
    this._isPaused = false;
    this._main = main;
    this._parts();
    addEventListener('keydown', (event) => this._key(event), { signal });
  }

  _parts() {
    this._title = h('h1', {});
    this._sides = h('div', { class: 'sides' });
    this._verdict = h('div', { class: 'verdict', 'data-testid': 'verdict' });
    this._note = h('div', { class: 'note', role: 'status', 'data-testid': 'note', hidden: true });
    this._extra = h('div', { class: 'row extra', role: 'group' });
    this._list = h('ol', { class: 'moves', 'data-testid': 'moves', 'aria-label': 'Moves' });
    this._tools = {
      undo: button('Undo', 'undo', () => this._undo(), { 'aria-keyshortcuts': 'u', title: 'Undo (u)' }),
      hint: button('Hint', 'hint', () => this._hint(), { 'aria-keyshortcuts': 'h', title: 'Hint (h)' }),
      thinking: button('Thinking', 'thinking', () => this._toggle(),
        { 'aria-pressed': 'false', 'aria-keyshortcuts': 't', title: 'Show what the engine thinks (t)' }),
      review: h('a', { class: 'button', 'data-testid': 'review', title: 'Where the game was won and lost' }, 'Review'),
      pause: button('Pause', 'pause', () => this._pause(), { hidden: true }),
      new: h('a', { class: 'button', href: '#', 'data-testid': 'new', 'aria-keyshortcuts': 'n', title: 'New game (n)' }, 'New game'),
    };
    this._again = button('Play again', 'again', () => this._rematch(), { class: 'primary', hidden: true });
    this._resign = button('Resign', 'resign', () => this._giveUp(), { class: 'plain' });
    const keys = ['arrows', 'Enter', 'u undo', 'h hint', 't thinking', 'n new'];
    this._main.replaceChildren(h('div', { class: 'table' },
      h('section', { class: 'stage', 'aria-label': 'Game' },
        h('div', { class: 'top' }, this._title, this._sides), this._verdict, this._board.element, this._extra),
      h('div', { class: 'tools' }, this._again, Object.values(this._tools)), this._note,
      h('aside', { class: 'side' }, this._thinking.element,
        h('section', { class: 'card' }, h('h2', {}, 'Moves'), this._list),
        h('div', { class: 'more' },
          checkbox('Warn me before blunders', this._warns, (warns) => this._setWarns(warns), 'warn'),
          button('Share, export', 'share', () => shareDialog(this._match.game, this._match.moves), { class: 'plain' }),
          this._resign),
        h('p', { class: 'keys quiet' }, keys.map((text) => h('kbd', {}, text))))));
  }

  /** Shows the match as the server has it, and goes on with it. */
  update(match) {
    if (this._signal.aborted) return;
    const isFirst = !this._match;
    this._match = match;
    this._say('');
    this._board.show(match, match.human_to_move);
    if (isFirst) this._board.focus();
    this._draw();
    this._think();
    if (!match.over && !match.human_to_move && !this._isPaused) this._reply();
  }

  _draw() {
    const { _match: match, _tools: tools } = this;
    const isWatched = humans(match) === 0;
    this._title.textContent = title(match.game);
    document.title = `${title(match.game)} – Zermelo`;
    this._sides.replaceChildren(this._player(0), this._player(1));
    this._sides.className = `sides ${family(match.game)}`;
    this._drawVerdict();
    this._drawExtra();
    const review = `#match=${encodeURIComponent(match.id)}&view=review`;
    this._list.replaceChildren(...match.moves.map((move, i) => h('li', {},
      h('a', { href: `${review}&ply=${i + 1}` }, moveText(i + 1, move, match.symbols[match.movers[i]], who(match, match.movers[i]))))));
    this._list.scrollTop = this._list.scrollHeight;
    tools.undo.disabled = !this._undoable() || this._isReplying;
    tools.thinking.disabled = match.over;
    tools.hint.disabled = match.over || !match.human_to_move;
    tools.review.href = review;
    tools.pause.hidden = !isWatched || match.over;
    tools.pause.textContent = this._isPaused ? 'Go on' : 'Pause';
    this._again.hidden = !match.over;
    this._resign.hidden = !match.human_to_move;
  }

  /** Buttons for the moves without a cell: a pass or a swap, or all moves of a game without a grid. */
  _drawExtra() {
    const { _match: match } = this;
    const isWhole = !match.rows;
    // The buttons are new for each position, so the focus has to be given back.
    this._hadFocus ||= this._extra.contains(document.activeElement);
    const buttons = (match.human_to_move ? match.extra : []).map((move) => button(
      isWhole ? move : capital(move), `extra-${move}`, () => this._play(move), { class: isWhole ? false : 'primary' }));
    this._extra.classList.toggle('whole', isWhole);
    this._extra.setAttribute('aria-label', isWhole ? 'Moves to play' : 'Other moves');
    this._extra.replaceChildren(...buttons);
    if (buttons.length && this._hadFocus) {
      this._hadFocus = false;
      if (isWhole) buttons[0].focus();
      else this._board.focus();
    }
  }

  _player(side) {
    const { _match: match } = this;
    const name = who(match, side) === 'You' ? 'You' : playerName(side ? match.second : match.first);
    const isTurn = !match.over && match.to_move === side;
    return h('span', { class: `player${isTurn ? ' moves-now' : ''}` }, mark(side, match.discs), `${name} (${match.symbols[side]})`);
  }

  _drawVerdict() {
    const { _match: match } = this;
    const mine = humans(match) === 1 ? [match.first, match.second].findIndex(isHuman) : null;
    let [head, tail] = [capital(match.verdict), ''];
    if (match.over && mine !== null && match.outcome !== 'draw') {
      head = match.outcome === ['first', 'second'][mine] ? 'You win' : 'You lose';
      tail = match.verdict;
    } else if (!match.over && match.human_to_move) head = this._turnWords();
    else if (!match.over && !this._isReplying) head = this._isPaused ? 'Paused' : 'Waiting';
    else if (!match.over) head = `${playerName([match.first, match.second][match.to_move])} is thinking…`;
    this._verdict.className = 'verdict';
    this._verdict.classList.toggle('over', match.over);
    this._verdict.classList.toggle('won', match.over && head !== 'You lose');
    this._verdict.classList.toggle('busy', this._isReplying);
    this._verdict.replaceChildren(h('strong', {}, head), tail && h('span', {}, ` · ${tail}`));
  }

  /** Whose move it is, where it is a human's; said apart where the same side moves again. */
  _turnWords() {
    const { _match: match } = this;
    const isAgain = match.movers.at(-1) === match.to_move;
    if (humans(match) === 1) return isAgain ? 'Your move again' : 'Your move';
    return isAgain ? `${match.symbols[match.to_move]} to move again` : capital(match.verdict);
  }

  async _play(move) {
    const { _match: match } = this;
    if (this._isSending || !match.human_to_move) return;
    this._isSending = true;
    this._say('');
    this._board.showMove(move);
    try {
      const found = this._warns ? await this._foresee(move) : null;
      if (this._signal.aborted || this._match !== match) return;
      if (found) this._warn(found, move);
      else await this._send(move);
    } finally {
      this._isSending = false;
    }
  }

  async _send(move) {
    const { id, ply, symbols, to_move: side } = this._match;
    try {
      const next = await api.move(id, move, ply, this._signal);
      const isAgain = !next.over && next.to_move === side;
      announce(`${who(this._match, side) || symbols[side]} played ${move}. ${next.over ? capital(next.verdict) : isAgain ? 'The same side moves again.' : ''}`);
      this.update(next);
    } catch (error) {
      await this._recover(error);
    }
  }

  /** Whether a move is a blunder; the analysis has usually run since the turn began. */
  async _foresee(move) {
    try {
      const record = await this._mind.think(this._match, WARNING).until((latest) => latest.exact || latest.seconds > 0.8, 1500);
      return record && fault(record, move);
    } catch {
      return null; // no analysis, no warning: the game goes on
    }
  }

  _warn({ kind, played, best }, move) {
    const head = kind === 'mistake' ? `${move} is a mistake` : `${move} looks like a mistake`;
    const why = played.reasons.length ? `it ${whyWords(played)}` : outcomeWords(played);
    const takeBack = () => { this._say(''); this._board.showLine(null); this._board.focus(); announce('Taken back.'); };
    const back = button('Take it back', 'take-back', takeBack, { class: 'primary' });
    const anyway = button('Play it anyway', 'play-anyway', () => { this._say(''); this._send(move); });
    this._say(h('p', {}, h('strong', {}, `${head}: `), `${why}. Another move is better: ${outcomeWords(best)}.`),
      h('div', { class: 'row' }, back, anyway));
    back.focus();
  }

  async _reply() {
    if (this._isReplying) return;
    this._isReplying = true;
    this._draw();
    const { _match: match } = this;
    try {
      if (humans(match) === 0) await api.pause(WATCHING, this._signal);
      if (this._isPaused) return;
      const next = await api.reply(match.id, this._signal);
      this._isReplying = false;
      const turn = next.over ? capital(next.verdict) : next.human_to_move ? 'Your move.' : '';
      announce(`AI (${match.symbols[match.to_move]}) played ${next.moves.at(-1)}. ${turn}`);
      this.update(next);
    } catch (error) {
      this._isReplying = false;
      await this._recover(error);
    } finally {
      this._isReplying = false;
    }
  }

  /** After a refusal: a match that has gone on elsewhere is read again, all else is said. */
  async _recover(error) {
    if (api.isGone(error) || this._signal.aborted) return;
    if (error.status === 409) {
      const known = this._match.ply;
      const match = await api.match(this._match.id, this._signal);
      const hasMoved = match.ply !== known;
      this.update(match);
      if (hasMoved && match.human_to_move) this._say('The game has gone on elsewhere: this is how it stands.');
      return;
    }
    this._board.showLine(null);
    this._draw();
    const again = button('Try again', 'retry', () => api.match(this._match.id, this._signal).then((match) => this.update(match)));
    this._say(h('p', { class: 'error', 'data-testid': 'error' }, error.message), h('div', { class: 'row' }, again));
  }

  /** How many plies lead back to where a human last had the choice; 0 where there is none. */
  _undoable() {
    const { moves, movers, first, second } = this._match;
    if (humans(this._match) === 0) return Math.min(1, moves.length);
    for (let ply = moves.length - 1; ply >= 0; ply -= 1) {
      if (isHuman(movers[ply] ? second : first)) return moves.length - ply;
    }
    return 0;
  }

  async _undo() {
    const plies = this._undoable();
    if (!plies || this._isReplying || this._isSending) return;
    if (humans(this._match) === 0) this._isPaused = true;
    try {
      const match = await api.undo(this._match.id, plies);
      announce(`Took back ${plies === 1 ? 'one move' : `${plies} moves`}.`);
      this.update(match);
    } catch (error) {
      await this._recover(error);
    }
  }

  /** The best move and the first reason; nothing else is told. */
  async _hint() {
    const { _match: match } = this;
    if (match.over || !match.human_to_move) return;
    this._say('Looking for a good move…');
    try {
      const record = await this._mind.think(match, THINKING).until((latest) => latest.exact, 2000);
      if (this._match !== match || this._signal.aborted) return;
      this._think();
      const [best] = record?.candidates ?? [];
      if (!best) { this._say('No hint was found in time. Please ask again.'); return; }
      const why = whyWords(best) || outcomeWords(best);
      this._board.showRing(this._board.cellsOf(best.move), 'hint');
      for (const each of this._extra.children) each.classList.toggle('hinted', each.dataset.testid === `extra-${best.move}`);
      this._say(h('p', {}, h('strong', {}, `Hint: ${best.move}. `), capital(why), ' ', h('span', { class: `badge${record.exact ? ' sure' : ''}` }, certainty(record))));
    } catch (error) {
      await this._recover(error);
    }
  }

  /** Thinks where somebody looks or wants to be warned, and rests where nobody does. */
  _think() {
    const { _match: match } = this;
    // While the computer thinks about its reply it needs the processor for itself.
    const isQuiet = match.human_to_move || humans(match) === 0;
    const wanted = !match.over && isQuiet && (this._isThinking ? THINKING : this._warns && match.human_to_move ? WARNING : 0);
    const thought = wanted ? this._mind.think(match, wanted) : null;
    if (!thought) this._mind.rest();
    this._thinking.follow(this._isThinking ? thought : null, hybridOf(match, match.to_move));
  }

  _toggle() {
    this._isThinking = !this._isThinking;
    this._tools.thinking.setAttribute('aria-pressed', String(this._isThinking));
    this._think();
  }

  _setWarns(warns) {
    this._warns = warns;
    memory.write('start', { ...memory.read('start', {}), warn: warns });
    this._think();
  }

  _pause() {
    this._isPaused = !this._isPaused;
    this.update(this._match);
  }

  async _giveUp() {
    try {
      this.update(await api.resign(this._match.id));
      announce(capital(this._match.verdict));
    } catch (error) {
      await this._recover(error);
    }
  }

  async _rematch() {
    const { game, first, second } = this._match;
    const { id } = await api.create({ game, first, second });
    location.hash = `match=${encodeURIComponent(id)}`;
  }

  _say(...what) {
    const parts = what.filter(Boolean);
    this._note.hidden = !parts.length;
    this._note.replaceChildren(...parts);
  }

  _key(event) {
    if (!isShortcut(event)) return;
    const acts = { u: () => this._undo(), h: () => this._hint(), t: () => this._toggle(), n: () => { location.hash = ''; },
      escape: () => this._board.select(null) };
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
