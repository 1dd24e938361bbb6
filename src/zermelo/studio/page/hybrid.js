/** What a hybrid makes of the position: each move's value, what it is made of, and the exact verdict beside it. */
import { button, h } from './dom.js';
import { capital, cellWords, certainty, outcomeWords, signed, worth } from './words.js';

const SHOWN = 5; // moves, before all are asked for
const PARTS = ['network', 'heuristic', 'blend'];

export class Hybrid {
  constructor() {
    this._said = h('p', { 'data-testid': 'hybrid-choice' });
    this._body = h('tbody', { 'data-testid': 'hybrid-moves' });
    this._more = button('', 'hybrid-all', () => { this._all = !this._all; this._draw(); }, { class: 'plain' });
    const heads = ['Move', 'Value', ...PARTS.map(capital), 'Verdict'].map((text) => h('th', { scope: 'col' }, text));
    this.element = h('section', { class: 'hybrid', 'aria-labelledby': 'hybrid-title', hidden: true, 'data-testid': 'hybrid' },
      h('h2', { id: 'hybrid-title' }, 'What the hybrid thinks'), this._said,
      h('table', {}, h('thead', {}, h('tr', {}, heads)), this._body), h('p', {}, this._more),
      h('p', { class: 'quiet' }, 'From −1, lost, to +1, won, for the side to move. The value looks ahead; network, heuristic '
        + 'and their blend see the position right after the move; the verdict is that of the analysis above.'));
  }

  /** Follows its thought, and the exact one about the same position; null: nobody to ask. */
  follow(own, exact) {
    Object.assign(this, { _own: own, _exact: exact, _all: false });
    this.element.hidden = !own;
    for (const thought of own ? [own, exact] : []) thought.listen(() => { if (this._own === own) this._draw(); });
  }

  _draw() {
    const { latest, error } = this._own;
    const left = (latest?.candidates.length ?? 0) - SHOWN;
    this._more.parentElement.hidden = left <= 0;
    this._more.textContent = this._all ? 'Show fewer' : `Show ${left} more`;
    this._body.parentElement.hidden = !latest;
    if (!latest) { this._said.textContent = error ? error.message : 'Thinking…'; return; }
    const [choice] = latest.candidates;
    this._said.textContent = `It would play ${choice.move}: ${outcomeWords(choice)} (${certainty(latest)}).`;
    const verdicts = new Map(this._exact.latest?.candidates.map((verdict) => [verdict.move, verdict]));
    const shown = this._all ? latest.candidates : latest.candidates.slice(0, SHOWN);
    const rows = shown.flatMap((candidate) => this._rows(candidate, verdicts.get(candidate.move), candidate === choice));
    // What says the same stays, so that nobody who reads it is interrupted.
    const text = (all) => [...all].map((row) => row.textContent).join();
    if (text(rows) !== text(this._body.children)) this._body.replaceChildren(...rows);
  }

  /** One row, and another in words where it is proven wrong about who wins. */
  _rows({ move, parts, ...judged }, verdict, isChoice) {
    const isWrong = verdict?.exact && worth(judged) * worth(verdict) < 0;
    const words = isWrong && (verdict.value === 'win' ? 'Disliked, but proven won.' : 'Liked, but proven lost.');
    const made = parts ? PARTS.map((name) => h('td', {}, signed(parts[name]))) : h('td', { colspan: 3, class: 'why' }, 'ends the game');
    const star = isChoice && [h('span', { 'aria-hidden': 'true' }, '★'), h('span', { class: 'unseen' }, ', its choice')];
    const row = h('tr', { class: isChoice && 'best' }, h('th', { scope: 'row', rowspan: words ? 2 : 1 }, move, star),
      h('td', {}, cellWords(judged)), made,
      h('td', {}, verdict ? [cellWords(verdict), ' ', h('small', {}, verdict.exact ? 'proven' : 'estimate')] : '…'));
    return words ? [row, h('tr', { class: 'apart' }, h('td', { colspan: 5 }, h('span', { class: 'fault mistake' }, words)))] : [row];
  }
}
