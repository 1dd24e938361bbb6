/**
 * The board: labels and cells in one CSS grid, every cell a button. It shows a position and what is laid over it (heat,
 * ghost stones, rings); it knows no rules: the position says what a click plays and where stones land.
 */
import { h, mark } from './dom.js';
import { cellWords, outcomeWords, strength, worth } from './words.js';

const BRIEF = 10; // columns; above, cells are too small for words
const WARMEST = 24; // candidates that are coloured on such a board: all of them would hide the stones

export class Board {
  /** `play(move)` is called for a click or Enter on a cell that plays something. */
  constructor(play) {
    this._play = play;
    this._cells = [];
    this._shape = '';
    this._focus = 0;
    this.position = null;
    this.open = false;
    this.heat = new Map();
    this.ghosts = new Map();
    this.rings = new Map();
    this.grid = h('div', { class: 'board', role: 'grid', 'data-testid': 'board', on: {
      click: (event) => this._click(event), keydown: (event) => this._key(event),
      focusin: (event) => this._focused(event), focusout: () => this._preview(null),
      pointerover: (event) => this._preview(this._index(event)), pointerleave: () => this._preview(null),
    } });
    this.element = h('div', { class: 'board-frame' }, this.grid);
  }

  /** A position; `open`: whether clicks play. What lay over the former one is taken off. */
  show(position, open) {
    const before = this.position;
    this.position = position;
    this.open = open && !position.over;
    this.heat.clear();
    this.ghosts.clear();
    this.rings.clear();
    if (this._shape !== `${position.game} ${position.rows} ${position.cols}`) this._build();
    const isNext = before && before.game === position.game && position.ply === before.ply + 1
      && before.moves.every((move, i) => move === position.moves[i]);
    this._arrived = isNext ? position.last_cell : null;
    this.render();
  }

  /** Candidates as colours and words in their cells; null takes them away. */
  showHeat(candidates) {
    this.heat.clear();
    for (const candidate of (candidates ?? []).slice(0, this._brief ? WARMEST : undefined)) {
      const cell = this.position.landing[candidate.move];
      if (cell !== undefined) this.heat.set(cell, candidate);
    }
    this.render();
  }

  /** A move of this position as a ghost stone. */
  showMove(move) {
    this.showLine([this.position.landing[move] ?? null]);
  }

  /** A line of moves as ghost stones, by the cells they fill (null for a pass or swap), numbered; null takes them away. */
  showLine(cells) {
    this.ghosts.clear();
    (cells ?? []).forEach((cell, i) => {
      const [side, number] = [(this.position.to_move + i) % 2, cells.length > 1 ? i + 1 : 0];
      if (cell !== null) this.ghosts.set(cell, { side, number });
    });
    this.render();
  }

  /** A ring around a cell, with what it means: "hint", "better"; null takes it away. */
  showRing(cell, meaning) {
    this.rings.clear();
    if (cell != null) this.rings.set(cell, meaning);
    this.render();
  }

  focus() {
    this._cells[this._focus]?.focus();
  }

  _build() {
    const { game, rows, cols, columns, cells, discs, gravity } = this.position;
    this._shape = `${game} ${rows} ${cols}`;
    this._brief = cols > BRIEF;
    this._signs = [];
    this.grid.className = `board ${gravity ? 'falls' : discs ? 'discs' : 'marks'} ${game.split(':')[0]}${this._brief ? ' brief' : ''}`;
    this.grid.setAttribute('aria-label', `Board, ${rows} rows, ${cols} columns`);
    this.grid.style.setProperty('--rows', rows);
    this.grid.style.setProperty('--cols', cols);
    this._focus = Math.floor(rows / 2) * cols + Math.floor((cols - 1) / 2);
    this._cells = cells.map(({ name }, i) => h('button', {
      type: 'button', role: 'gridcell', class: 'cell', 'data-testid': `cell-${name}`, 'data-index': i, tabindex: i === this._focus ? 0 : -1,
    }));
    this.grid.replaceChildren(
      h('div', { role: 'row' }, columns.map((label) => h('span', { role: 'columnheader', class: 'label' }, label))),
      ...Array.from({ length: rows }, (_, row) => h('div', { role: 'row' },
        h('span', { role: 'rowheader', class: 'label' }, String(row + 1)),
        this._cells.slice(row * cols, (row + 1) * cols))));
  }

  /** Brings every cell up to date; those that look the same are not touched. */
  render() {
    const line = new Set(this.position.winning_line);
    this._cells.forEach((button, i) => this._draw(button, i, line));
  }

  _draw(button, i, line) {
    const { board, cells, last_cell: last, symbols, discs } = this.position;
    const stone = board[i];
    const [heat, ghost, ring] = [stone ? null : this.heat.get(i), this.ghosts.get(i), this.rings.get(i)];
    const plays = this.open && cells[i].move !== null;
    const words = heat ? cellWords(heat, this._brief) : '';
    const value = heat ? worth(heat).toFixed(2) : '';
    const classes = ['cell', plays && 'plays', i === last && 'last', line.has(i) && 'won', ring && 'ring', ghost && 'ghost',
      heat && 'heat', heat?.best && 'best', heat && (value > 0.05 ? 'good' : value < -0.05 ? 'bad' : 'even'),
      stone && i === this._arrived && 'arrived'].filter(Boolean).join(' ');
    const spoken = [this._name(i), stone ? symbols[stone > 0 ? 0 : 1] : 'empty', i === last && 'last move',
      line.has(i) && 'in the line that decided', ring, heat && outcomeWords(heat), heat?.best && 'best',
      ghost && `${symbols[ghost.side]} expected`, ghost?.number && `move ${ghost.number}`].filter(Boolean).join(', ');
    const sign = [classes, spoken, words, value, stone, ghost?.side].join('|');
    if (this._signs[i] === sign) return;
    this._signs[i] = sign;
    button.className = classes;
    button.setAttribute('aria-label', spoken);
    button.setAttribute('aria-disabled', String(!plays));
    button.style.setProperty('--heat', heat ? strength(heat).toFixed(2) : 0);
    button.style.setProperty('--fall', Math.floor(i / this.position.cols) + 1);
    button.replaceChildren(...[
      stone ? mark(stone > 0 ? 0 : 1, discs) : ghost ? mark(ghost.side, discs) : null,
      ghost?.number ? h('span', { class: 'number', 'aria-hidden': 'true' }, String(ghost.number)) : null,
      words && !ghost ? h('span', { class: 'words', 'aria-hidden': 'true' }, words) : null,
    ].filter(Boolean));
  }

  _name(i) {
    const { cells, columns, cols, gravity } = this.position;
    return gravity ? `column ${columns[i % cols]}, row ${Math.floor(i / cols) + 1}` : cells[i].name;
  }

  _index(event) {
    const cell = event.target.closest?.('.cell');
    return cell ? Number(cell.dataset.index) : null;
  }

  _click(event) {
    const i = this._index(event);
    if (i === null) return;
    this._move(i);
    const { move } = this.position.cells[i];
    if (this.open && move !== null) this._play(move);
  }

  /** Shows where a stone would land, which need not be where the pointer is. */
  _preview(i) {
    this._cells[this._previewed]?.classList.remove('preview0', 'preview1');
    const { cells, landing, to_move: side } = this.position;
    if (i === null || !this.open || cells[i].move === null) return;
    this._previewed = landing[cells[i].move];
    this._cells[this._previewed].classList.add(`preview${side}`);
  }

  _focused(event) {
    const i = this._index(event);
    if (i === null) return;
    this._move(i);
    this._preview(i);
  }

  /** Moves the one place where Tab enters the board. */
  _move(i) {
    this._cells[this._focus]?.setAttribute('tabindex', '-1');
    this._focus = i;
    this._cells[i].setAttribute('tabindex', '0');
  }

  _key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { rows, cols } = this.position;
    const [row, col] = [Math.floor(this._focus / cols), this._focus % cols];
    const to = {
      ArrowLeft: [row, Math.max(col - 1, 0)], ArrowRight: [row, Math.min(col + 1, cols - 1)],
      ArrowUp: [Math.max(row - 1, 0), col], ArrowDown: [Math.min(row + 1, rows - 1), col],
      Home: [row, 0], End: [row, cols - 1], PageUp: [0, col], PageDown: [rows - 1, col],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    this._cells[to[0] * cols + to[1]].focus();
  }
}
