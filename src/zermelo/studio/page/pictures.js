/** Little boards for the cards of the start. */
import { h, s } from './dom.js';
import { family, isFile } from './words.js';

// How stones are drawn, then the rows: X and O, lower case where the line that decides runs.
const PICTURES = {
  connect4: ['falls', '...x..', '..xO..', '.xOXO.', 'xOXOOX'],
  squava: ['marks', '..O..', '.xxxx', 'OXO..', '..O..', '.....'],
  tictactoe: ['marks', 'x.O', 'OxX', 'O.x'],
  gomoku6: ['marks', '......', '..O...', '..Xo..', '.OXXo.', '...XXo', '......'],
  gomoku: ['marks', '.......', '.X.....', '..oooo.', '..XX.O.', '..X.X..', '.......', '.......'],
  reversi: ['discs', '......', '..XO..', '.OOOX.', '.XOXX.', '..O...', '......'],
  mnk: ['marks', '...X.', '..oX.', '.ooo.', 'XX...'],
  line: ['marks', 'O....', '.X...', '..x..', '...xO', 'O...x'],
};

/** Where a game stands among the cards: those from files first, then those with a picture, in its order. */
export const rank = ({ name }) => (isFile(name) ? 0 : Object.keys(PICTURES).indexOf(name) + 1 || Infinity);

/** A game's picture: its own, as an image; ours; or, if it is not known, that of the whole family. */
export function picture({ name, picture: own }) {
  if (own) return h('img', { class: 'picture own', src: `data:image/svg+xml,${encodeURIComponent(own)}`, alt: '' });
  const [kind, ...rows] = PICTURES[name] ?? PICTURES.line;
  const [width, height] = [rows[0].length * 10, rows.length * 10];
  const stones = rows.flatMap((row, y) => [...row].map((stone, x) => shape(kind, stone, x * 10 + 5, y * 10 + 5)));
  return s('svg', { class: `picture ${kind} ${family(name)}`, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    s('rect', { class: 'ground', width, height, rx: 3 }), kind !== 'falls' && lines(width, height), stones);
}

function shape(kind, stone, cx, cy) {
  if (stone === '.') return kind === 'falls' ? s('circle', { class: 'hole', cx, cy, r: 3.8 }) : null;
  const side = 'xX'.includes(stone) ? 0 : 1;
  const of = `side${side}${'xo'.includes(stone) ? ' won' : ''}`;
  if (kind !== 'marks') return s('circle', { class: `disc ${of}`, cx, cy, r: 3.8 });
  if (side) return s('circle', { class: `line ${of}`, cx, cy, r: 2.5 });
  return s('path', { class: `line ${of}`, d: `M${cx - 2.4} ${cy - 2.4}l4.8 4.8m0-4.8l-4.8 4.8` });
}

function lines(width, height) {
  let d = '';
  for (let x = 10; x < width; x += 10) d += `M${x} 1V${height - 1}`;
  for (let y = 10; y < height; y += 10) d += `M1 ${y}H${width - 1}`;
  return s('path', { class: 'lines', d });
}
