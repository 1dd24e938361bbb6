/** Thinking: what the engine makes of a position, live: value bar, candidates with reasons, heat and lines on the board. */
import { h, button } from './dom.js';
import { keyOf, Thought } from './api.js';
import { Hybrid } from './hybrid.js';
import { certainty, family, outcomeWords, whyWords, worth } from './words.js';

const SHOWN = 8; // candidates, before all are asked for

export class Thinking {
  constructor(board, signal) {
    this._board = board;
    this._hybrid = new Hybrid();
    this._other = new Mind(signal); // of the hybrid
    this._rows = new Map();
    this._all = false;
    this._line = null;
    this._share = h('span', { class: 'share' });
    this._bar = h('div', { class: 'bar', role: 'img', 'data-testid': 'value-bar' }, this._share);
    this._head = h('strong', { 'data-testid': 'value' });
    this._sure = h('span', { class: 'badge', 'data-testid': 'certainty' });
    this._effort = h('span', { class: 'quiet' });
    this._body = h('tbody', { 'data-testid': 'candidates' });
    this._more = button('', 'all-candidates', () => { this._all = !this._all; this._draw(); }, { class: 'plain' });
    this._note = h('p', { class: 'quiet', role: 'status' });
    const heads = ['Move', 'Outcome', 'Why'].map((text) => h('th', { scope: 'col' }, text));
    this.element = h('section', { class: 'card thinking', 'aria-label': 'Thinking', hidden: true, 'data-testid': 'thinking-panel' },
      h('p', { class: 'value' }, this._head, this._sure), this._bar, this._note,
      h('table', {}, h('thead', {}, h('tr', {}, heads)), this._body),
      h('p', { class: 'foot' }, this._more, this._effort), this._hybrid.element);
  }

  /** Follows a thought about the position on the board, and asks the hybrid where one plays; null: nothing to show. */
  follow(thought, hybrid) {
    this._thought = thought;
    this._line = null;
    this._all = false;
    this.element.hidden = !thought;
    this._rows.clear();
    this._body.replaceChildren();
    if (thought) thought.listen(() => { if (this._thought === thought) this._draw(); });
    else this._board.showHeat(null);
    const other = thought && hybrid ? this._other.think(this._board.position, thought.seconds, hybrid) : null;
    if (!other) this._other.rest();
    this._hybrid.follow(other, thought);
  }

  _draw() {
    const { latest, error, done } = this._thought;
    this.element.setAttribute('aria-busy', String(!done));
    this._note.textContent = error ? error.message : latest ? '' : 'Thinking…';
    this._note.hidden = !this._note.textContent;
    for (const part of [this._bar, this._body.parentElement, this._more.parentElement]) part.hidden = !latest;
    if (!latest) { this._head.textContent = this._sure.textContent = ''; return; }
    this._drawValue(latest, done);
    const shown = this._all ? latest.candidates : latest.candidates.slice(0, SHOWN);
    const rows = shown.map((candidate) => this._row(candidate));
    // Only what moved is moved, so that a row keeps its focus while the table changes.
    const { children } = this._body;
    rows.forEach((row, i) => { if (children[i] !== row) this._body.insertBefore(row, children[i] ?? null); });
    while (children.length > rows.length) this._body.lastChild.remove();
    const left = latest.candidates.length - SHOWN;
    this._more.hidden = left <= 0;
    this._more.textContent = this._all ? 'Show fewer' : `Show ${left} more`;
    this._board.showHeat(latest.candidates);
    if (this._line) this._show(this._line);
  }

  _drawValue(latest, done) {
    const { game, symbols, to_move: side } = this._board.position;
    const forFirst = side ? -worth(latest) : worth(latest);
    this._bar.className = `bar ${family(game)}`;
    this._bar.style.setProperty('--share', `${50 + 50 * forFirst}%`);
    const words = latest.candidates.length ? `${symbols[side]} to move: ${outcomeWords(latest)}` : 'The game is over.';
    this._head.textContent = words;
    this._bar.setAttribute('aria-label', `${words}, ${certainty(latest)}`);
    this._sure.textContent = certainty(latest);
    this._sure.classList.toggle('sure', latest.exact);
    this._effort.textContent = `${latest.nodes.toLocaleString('en')} positions, ${latest.seconds.toFixed(1)} s${done ? '' : ' …'}`;
  }

  _row(candidate) {
    let row = this._rows.get(candidate.move);
    if (!row) {
      const { move } = candidate;
      const [show, hide] = [() => this._show(move), () => this._show(null)];
      row = h('tr', { on: { pointerenter: show, pointerleave: hide, focusin: show, focusout: hide } },
        h('th', { scope: 'row' }, button(move, `line-${move}`, show, { class: 'plain', title: 'Show the line on the board' })),
        h('td', {}), h('td', { class: 'why' }));
      this._rows.set(move, row);
    }
    row.classList.toggle('best', candidate.best);
    row.firstChild.firstChild.setAttribute('aria-label', `${candidate.move}${candidate.best ? ', best' : ''}: show the line`);
    // The badge speaks of the whole; a candidate says so where it differs.
    const differs = candidate.exact !== this._thought.latest.exact;
    row.children[1].textContent = outcomeWords(candidate) + (differs ? (candidate.exact ? ' (proven)' : ' (estimate)') : '');
    row.children[2].textContent = candidate.reasons.map(({ text }) => text).join('; ') || whyWords(candidate);
    return row;
  }

  _show(move) {
    this._line = move;
    const candidate = this._thought?.latest?.candidates.find((other) => other.move === move);
    this._board.showLine(candidate ? candidate.pv_line : null);
  }
}

/** Keeps one thought about one position, for whoever on the page needs it; the former one is closed. */
export class Mind {
  constructor(signal) {
    this.thought = null;
    signal.addEventListener('abort', () => this.rest());
  }

  think(position, seconds, player = '') {
    const key = keyOf(position, player);
    if (this.thought?.key === key && this.thought.seconds >= seconds && !this.thought.error) return this.thought;
    this.rest();
    this.thought = new Thought(position, seconds, player);
    return this.thought;
  }

  rest() {
    this.thought?.close();
    this.thought = null;
  }
}
