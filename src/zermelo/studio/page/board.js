/**
 * The board: labels and cells in one CSS grid, every cell a button. It shows a position and what is laid over it (heat,
 * ghost stones, rings); it knows no rules: the position says what a click plays, which pieces can move where, and where
 * stones land. A game without a grid is shown as its own picture or drawing.
 */
import { announce, button, h, mark } from './dom.js';
import { cellWords, family, outcomeWords, strength, worth } from './words.js';

const BRIEF = 10; // columns; above, cells are too small for words
const WARMEST = 24; // candidates that are coloured on such a board: all of them would hide the stones

export class Board {
  /** `play(move)` is called when a click or Enter on a cell plays something, or a second one moves the piece selected. */
  constructor(play) {
    this._play = play;
    this._cells = [];
    this._shape = '';
    this._focus = 0;
    this.position = null;
    this.open = false;
    this.selected = null; // the cell of the piece that is to move
    this.heat = new Map();
    this.ghosts = new Map();
    this.rings = new Map();
    this._candidates = [];
    this._leaving = null;
    this.grid = h('div', { class: 'board', role: 'grid', 'data-testid': 'board', on: {
      click: (event) => this._click(event), keydown: (event) => this._key(event),
      focusin: (event) => this._focused(event), focusout: () => this._preview(null),
      pointerover: (event) => this._preview(this._index(event)), pointerleave: () => this._preview(null),
    } });
    this._figure = h('div', { class: 'drawing', 'data-testid': 'board' });
    this._choice = h('div', { class: 'row choice', role: 'group', 'aria-label': 'Choose a move', 'data-testid': 'choice', hidden: true,
      on: { keydown: (event) => { if (event.key === 'Escape') this._cancel(); } } });
    this.element = h('div', { class: 'board-frame' }, this.grid);
  }

  /** A position; `open`: whether clicks play. What lay over the former one is taken off. */
  show(position, open) {
    const before = this.position;
    this.position = position;
    this.open = open && !position.over;
    this.selected = null;
    this._candidates = [];
    this._choice.hidden = true;
    this.heat.clear();
    this.ghosts.clear();
    this._leaving = null;
    this.rings.clear();
    if (this._shape !== `${position.game} ${position.rows} ${position.cols}`) this._build();
    if (!position.rows) this._drawFigure();
    const isNext = before && before.game === position.game && position.ply === before.ply + 1
      && before.moves.every((move, i) => move === position.moves[i]);
    this._arrived = isNext ? position.last_cell : null;
    this.render();
  }

  /** Candidates as colours and words in their cells; null takes them away. */
  showHeat(candidates) {
    this._candidates = candidates ?? [];
    this._warm();
    this.render();
  }

  /** Where pieces move: the best of each piece on its own cell, and those of the piece selected where they lead. */
  _warm() {
    this.heat.clear();
    const { sources, landing } = this.position;
    for (const candidate of this._candidates.slice(0, this._brief ? WARMEST : undefined)) {
      const from = sources[candidate.move] ?? this.selected;
      const cell = from === this.selected ? landing[candidate.move] : this.selected === null ? from : undefined;
      if (cell !== undefined && !this.heat.has(cell)) this.heat.set(cell, candidate);
    }
  }

  /** The cells of a move: the one it fills, or from and to; none for a pass. */
  cellsOf(move) {
    return [this.position.sources[move], this.position.landing[move]].filter((cell) => cell !== undefined);
  }

  /** A move of this position as a ghost stone. */
  showMove(move) {
    this.showLine([{ player: this.position.to_move, cells: this.cellsOf(move) }]);
  }

  /** A line of moves, each with its player and its cells (none for a pass or swap), as numbered ghost stones; null: none. */
  showLine(line) {
    this.ghosts.clear();
    (line ?? []).forEach(({ player, cells }, i) => {
      const [cell, number] = [cells.at(-1), line.length > 1 ? i + 1 : 0];
      if (cell !== undefined && !this.ghosts.has(cell)) this.ghosts.set(cell, { side: player, number });
    });
    this._leaving = line?.[0]?.cells.length > 1 ? line[0].cells[0] : null;
    this.render();
  }

  /** A ring around each of these cells, with what it means: "hint", "better"; null takes them away. */
  showRing(cells, meaning) {
    this.rings.clear();
    for (const cell of cells ?? []) this.rings.set(cell, meaning);
    this.render();
  }

  focus() {
    this._cells[this._focus]?.focus();
  }

  /** Selects the piece on a cell, or none (null), and says where it can go. */
  select(cell) {
    if (cell === this.selected) return;
    this.selected = cell;
    this._warm();
    this.render();
    this._preview(null);
    const to = cell === null ? [] : Object.keys(this._targets).map((target) => this._name(Number(target)));
    announce(cell === null ? 'Nothing selected.' : `${this._name(cell)} selected. It can move to ${to.join(', ')}.`);
  }

  /** Where the piece selected can go, by cell: the moves that lead there. */
  get _targets() {
    return this.position.targets[this.selected] ?? {};
  }

  _build() {
    const { game, rows, cols, columns, cells, discs, gravity } = this.position;
    this._shape = `${game} ${rows} ${cols}`;
    this._brief = cols > BRIEF;
    this._signs = [];
    this.element.replaceChildren(rows ? this.grid : this._figure, this._choice);
    this.grid.className = `board ${gravity ? 'falls' : discs ? 'discs' : 'marks'} ${family(game)}${this._brief ? ' brief' : ''}`;
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

  /** The game's own picture, as an image: no script in it runs and nothing is loaded; or its drawing in letters. */
  _drawFigure() {
    const { picture, drawing } = this.position;
    this._figure.replaceChildren(picture
      ? h('img', { src: `data:image/svg+xml,${encodeURIComponent(picture)}`, alt: `Position: ${drawing}` })
      : h('pre', { tabindex: 0, role: 'region', 'aria-label': 'Position' }, drawing));
  }

  /** Brings every cell up to date; those that look the same are not touched. */
  render() {
    const line = new Set(this.position.winning_line);
    this._cells.forEach((button, i) => this._draw(button, i, line));
  }

  _draw(button, i, line) {
    const { board, cells, targets, last_cell: last, last_cells: lastCells, symbols, discs } = this.position;
    const stone = board[i];
    const [heat, ghost, ring] = [this.heat.get(i), this.ghosts.get(i), this.rings.get(i)];
    const isLeft = i !== last && lastCells.includes(i);
    const isTarget = this.open && i in this._targets;
    const isPiece = this.open && i in targets;
    const plays = this.open && (cells[i].move !== null || isTarget || isPiece);
    const words = heat ? cellWords(heat, this._brief) : '';
    const value = heat ? worth(heat).toFixed(2) : '';
    const classes = ['cell', plays && 'plays', isPiece && 'piece', i === this.selected && 'selected', isTarget && 'target',
      isLeft && 'left', stone && 'taken', i === this._leaving && 'leaving', i === last && 'last', line.has(i) && 'won', ring && 'ring', ghost && 'ghost',
      heat && 'heat', heat?.best && 'best', heat && (value > 0.05 ? 'good' : value < -0.05 ? 'bad' : 'even'),
      stone && i === this._arrived && 'arrived'].filter(Boolean).join(' ');
    const spoken = [this._name(i), stone ? symbols[stone > 0 ? 0 : 1] : 'empty', i === this.selected && 'selected',
      isTarget ? 'can move here' : isPiece && 'can move', i === last && 'last move', isLeft && 'last move from here',
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
      ghost ? mark(ghost.side, discs) : stone ? mark(stone > 0 ? 0 : 1, discs) : null,
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
    if (this.open) this._act(i);
  }

  /** Handles a click as the position says: moves the selected piece, plays a move, or selects a piece. */
  _act(i) {
    const [{ move }, moves] = [this.position.cells[i], this._targets[i]];
    const { selected } = this;
    if (moves || move !== null) {
      this.selected = null;
      this._warm();
      this.render();
      if (moves?.length > 1) this._choose(moves);
      else this._play(moves ? moves[0] : move);
    } else this.select(i in this.position.targets && i !== selected ? i : null);
  }

  /** Several moves have the same cells, as where a piece is promoted: asks which one. */
  _choose(moves) {
    const play = (move) => { this._choice.hidden = true; this.focus(); this._play(move); };
    this._choice.replaceChildren(h('span', {}, 'Which move?'),
      ...moves.map((move) => button(move, `choice-${move}`, () => play(move))), button('None', 'choice-none', () => this._cancel(), { class: 'plain' }));
    this._choice.hidden = false;
    this._choice.querySelector('button').focus();
    announce(`Choose a move: ${moves.join(', ')}.`);
  }

  _cancel() {
    this._choice.hidden = true;
    this.focus();
  }

  /** Shows where a stone would land, which need not be where the pointer is. */
  _preview(i) {
    this._cells[this._previewed]?.classList.remove('preview0', 'preview1');
    const { cells, landing, to_move: side } = this.position;
    const move = i === null ? null : this._targets[i]?.[0] ?? cells[i].move;
    if (!this.open || move === null) return;
    this._previewed = landing[move];
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
    if (event.key === 'Escape' && this.selected !== null) {
      event.stopPropagation();
      this.select(null);
    }
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
