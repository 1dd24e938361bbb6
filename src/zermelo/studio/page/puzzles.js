/** Puzzles: one first move wins. A wrong one is answered, a right one defended against, until the game is won. */
import * as api from './api.js';
import { announce, button, choice, h, mark, memory } from './dom.js';
import { Board } from './board.js';
import { Mind } from './thinking.js';
import { capital, inAddress, title, whyWords } from './words.js';

const GAMES = ['connect4', 'squava', 'gomoku6', 'mnk:5x5x4', 'tictactoe:size=4'];
const PLIES = [3, 5, 7, 9];
const SECONDS = 15;
const DEFENDING = 600; // ms before the other side answers

const address = (game, plies, seed) => `#puzzle=${inAddress(game)}&plies=${plies}&seed=${seed}`;
const anySeed = () => 1 + Math.floor(Math.random() * 100000);
const movesIn = (plies) => (plies === 1 ? 'one move' : `${(plies + 1) / 2} moves`);

export async function puzzleView(main, params, signal) {
  const asked = memory.read('puzzle', {});
  const game = params.get('puzzle') || asked.game || GAMES[0];
  const plies = Number(params.get('plies')) || asked.plies || 3;
  const seed = params.has('seed') ? Number(params.get('seed')) : anySeed();
  history.replaceState(null, '', address(game, plies, seed));
  memory.write('puzzle', { game, plies });
  await new Puzzle(main, signal, { game, plies, seed }).load();
}

class Puzzle {
  constructor(main, signal, asked) {
    Object.assign(this, { _signal: signal, _asked: asked, _isDone: false, _hadHelp: false });
    this._mind = new Mind(signal);
    this._board = new Board((move) => this._try(move));
    this._head = h('div', { class: 'verdict', 'data-testid': 'verdict' });
    this._note = h('div', { class: 'note', role: 'status', 'data-testid': 'puzzle-note' });
    this._solved = h('p', { class: 'quiet', 'data-testid': 'solved' });
    this._again = button('From the start', 'puzzle-again', () => this._begin());
    this._hint = button('Hint', 'puzzle-hint', () => this._help(), { 'aria-keyshortcuts': 'h' });
    this._giveUp = button('Show me', 'puzzle-give-up', () => this._show());
    const following = address(asked.game, asked.plies, asked.seed + 1);
    const next = h('a', { class: 'button primary', 'data-testid': 'puzzle-next', href: following }, 'Next puzzle');
    const games = GAMES.includes(asked.game) ? GAMES : [asked.game, ...GAMES];
    const choose = (game, plies) => { location.hash = address(game, plies, anySeed()); };
    const lengths = PLIES.map((plies) => [String(plies), movesIn(plies)]);
    this._stage = h('section', { class: 'stage', 'aria-label': 'Puzzle' },
      h('div', { class: 'top' }, h('h1', {}, 'Find the win'), h('span', { class: 'quiet' }, title(asked.game))), this._head);
    main.replaceChildren(h('div', { class: 'table' }, this._stage,
      h('div', { class: 'tools' }, next, this._hint, this._giveUp, this._again), this._note,
      h('aside', { class: 'side' },
        h('section', { class: 'card' }, h('h2', {}, 'Which puzzles'), h('div', { class: 'fields' },
          choice('Game', games.map((name) => [name, title(name)]), asked.game, (game) => choose(game, asked.plies), 'puzzle-game'),
          choice('Win in', lengths, String(asked.plies), (plies) => choose(asked.game, plies), 'puzzle-plies')), this._solved))));
    document.title = 'Puzzles – Zermelo';
  }

  async load() {
    this._count();
    this._can(false);
    this._say('Looking for a puzzle…');
    try {
      this._puzzle = await api.puzzle(this._asked, this._signal);
    } catch (error) {
      if (api.isGone(error)) throw error;
      this._say(h('p', { class: 'error', 'data-testid': 'error' }, capital(error.message)));
      return;
    }
    this._stage.append(this._board.element);
    this._begin();
    this._board.focus();
  }

  _begin() {
    this._isDone = false;
    this._left = this._puzzle.plies;
    this._take(this._puzzle.position);
    this._say('');
    announce(this._head.textContent);
  }

  /** A position with the solver to move. */
  _take(position) {
    this._position = position;
    this._board.show(position, true);
    const symbol = position.symbols[position.to_move];
    this._head.replaceChildren(mark(position.to_move, position.discs), h('strong', {}, `${symbol} to move: win in ${movesIn(this._left)}`));
    this._can(true);
    this._mind.think(position, SECONDS);
  }

  /** What is proven about the position on the board. */
  async _record() {
    const record = await this._mind.think(this._position, SECONDS).until((latest) => latest.exact, SECONDS * 1000);
    if (!record?.exact) throw new api.Refusal(0, 'That took too long to judge. Please try again.');
    return record;
  }

  async _try(move) {
    if (this._isDone || this._isBusy) return;
    this._isBusy = true;
    this._say('');
    this._board.showRing(null);
    this._board.showMove(move);
    try {
      const record = await this._record();
      const tried = record.candidates.find((candidate) => candidate.move === move);
      if (tried.best) await this._right(tried);
      else await this._wrong(tried);
    } catch (error) {
      if (!api.isGone(error)) this._say(h('p', { class: 'error' }, error.message));
    } finally {
      this._isBusy = false;
    }
  }

  async _right(tried) {
    const { game, moves } = this._position;
    const mine = await api.position(game, [...moves, tried.move], this._signal);
    this._board.show(mine, false);
    if (mine.over) { this._finish(mine); return; }
    if (mine.to_move === this._position.to_move) { this._left -= 1; this._take(mine); return; }
    this._say(h('p', {}, h('strong', {}, 'Right. '), 'And now?'));
    const [answer] = await Promise.all([this._answer(mine, tried), api.pause(DEFENDING, this._signal)]);
    this._left -= 2;
    this._take(await api.position(game, [...mine.moves, answer], this._signal));
    announce(`Right. ${mine.symbols[mine.to_move]} answers ${answer}.`);
  }

  /** The other side's best reply: the line's, or what is found when the line ends here. */
  async _answer(position, tried) {
    if (tried.pv.length > 1) return tried.pv[1];
    const record = await this._mind.think(position, 3).until((latest) => latest.exact, 1500);
    return record.candidates[0].move;
  }

  async _wrong(tried) {
    this._hadHelp = true;
    const { game, moves, symbols, to_move: side } = this._position;
    if (tried.value === 'win') {
      this._say(h('p', {}, h('strong', {}, `${tried.move} wins too, but later. `), `There is a win in ${movesIn(this._left)}.`));
      this._board.showLine(null);
      return;
    }
    const after = await api.position(game, [...moves, tried.move], this._signal);
    if (after.over) { this._say(h('p', {}, h('strong', {}, `Not ${tried.move}: `), `${after.verdict}. Try again.`)); return; }
    const answer = await this._answer(after, tried);
    if (this._signal.aborted) return;
    const reply = [after.sources[answer], after.landing[answer]].filter((cell) => cell !== undefined);
    this._board.showLine([{ player: side, cells: this._board.cellsOf(tried.move) }, { player: after.to_move, cells: reply }]);
    const why = tried.reasons.length ? ` ${capital(whyWords(tried))}.` : '';
    this._say(h('p', {}, h('strong', {}, `Not ${tried.move}: ${symbols[after.to_move]} answers ${answer}. `), why, ' Try again.'));
    this._mind.think(this._position, SECONDS);
  }

  _finish(position) {
    this._isDone = true;
    this._mind.rest();
    this._can(false);
    if (!this._hadHelp) memory.write('solved', memory.read('solved', 0) + 1);
    this._count();
    this._head.replaceChildren(h('strong', {}, 'Solved'), h('span', {}, ` · ${position.verdict}`));
    this._head.classList.add('over', 'won');
    this._say('');
    announce(`Solved. ${capital(position.verdict)}.`);
  }

  async _help() {
    this._hadHelp = true;
    try {
      const record = await this._record();
      this._board.showLine(null);
      this._board.showRing(this._board.cellsOf(record.candidates[0].move), 'hint');
      this._say(`Look at ${record.candidates[0].move}.`);
    } catch (error) {
      if (!api.isGone(error)) this._say(error.message);
    }
  }

  /** Gives up: the whole line, on the board and in words. */
  async _show() {
    this._hadHelp = true;
    try {
      const record = await this._record();
      this._isDone = true;
      this._can(false);
      this._board.open = false;
      this._board.showLine(record.pv_line);
      this._say(h('p', {}, h('strong', {}, 'The line: '), record.pv.join(' ')));
    } catch (error) {
      if (!api.isGone(error)) this._say(error.message);
    }
  }

  _can(act) {
    this._hint.disabled = this._giveUp.disabled = !act;
    this._again.disabled = !this._puzzle;
    this._head.classList.remove('over', 'won');
  }

  _count() {
    const solved = memory.read('solved', 0);
    this._solved.textContent = solved ? `${solved} solved without help so far.` : '';
  }

  _say(...what) {
    const parts = what.filter(Boolean);
    this._note.hidden = !parts.length;
    this._note.replaceChildren(...parts);
  }
}
