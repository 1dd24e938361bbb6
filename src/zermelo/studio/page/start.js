/** The start: pick a game, pick an opponent, play. Everything has a default, so one click is enough. */
import { button, choice, h, memory, s, segmented } from './dom.js';
import { create, games, players, recent } from './api.js';
import { blurb, capital, isHuman, levelWords, playerName, title } from './words.js';
import { importDialog } from './records.js';

// Little boards for the cards: X and O, lower case where the line that decides runs.
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
const ORDER = Object.keys(PICTURES);
const LABELS = {
  size: 'Size', rows: 'Rows', cols: 'Columns', win: 'In a row to win', lose: 'In a row loses', pie: 'Swap rule', renju: 'Renju rules',
  overline: 'Longer lines', gravity: 'Gravity',
};
const DEFAULTS = { game: 'connect4', mode: 'computer', begins: 'you', opponent: 'level', level: 3, spec: '', firstWatched: 'level:5', secondWatched: 'level:8', warn: false, options: {} };

function picture(name) {
  const [kind, ...rows] = PICTURES[name] ?? PICTURES.line;
  const cols = rows[0].length;
  const shapes = rows.flatMap((row, y) => [...row].map((stone, x) => {
    const [cx, cy, side] = [x * 10 + 5, y * 10 + 5, 'xX'.includes(stone) ? 0 : 1];
    const of = `side${side}${'xo'.includes(stone) ? ' won' : ''}`;
    if (stone === '.') return kind === 'falls' ? s('circle', { class: 'hole', cx, cy, r: 3.8 }) : null;
    if (kind !== 'marks') return s('circle', { class: `disc ${of}`, cx, cy, r: 3.8 });
    return side ? s('circle', { class: `line ${of}`, cx, cy, r: 2.5 })
      : s('path', { class: `line ${of}`, d: `M${cx - 2.4} ${cy - 2.4}l4.8 4.8m0-4.8l-4.8 4.8` });
  }));
  const [w, height] = [cols * 10, rows.length * 10];
  const lines = kind === 'falls' ? '' : [...Array(cols - 1)].map((_, i) => `M${i * 10 + 10} 1V${height - 1}`).join('') + rows.slice(1).map((_, i) => `M1 ${i * 10 + 10}H${w - 1}`).join('');
  return s('svg', { class: `picture ${kind} ${name}`, viewBox: `0 0 ${w} ${height}`, 'aria-hidden': 'true' },
    s('rect', { class: 'ground', width: w, height, rx: 3 }), s('path', { class: 'lines', d: lines }), shapes);
}

/** The values that a game starts with: its own, or those of its example where it has none (mnk). */
function defaults(game) {
  const values = Object.fromEntries(game.parameters.map(({ name, default: value }) => [name, value]));
  if (game.name === 'mnk') [values.rows, values.cols, values.win] = game.example.split(':')[1].split('x').map(Number);
  return values;
}

function specOf(game, values) {
  if (game.name === 'mnk') return `mnk:${values.rows}x${values.cols}x${values.win}`;
  const own = game.parameters.filter(({ name, default: value }) => values[name] !== value && values[name] !== '');
  return own.length ? `${game.name}:${own.map(({ name }) => `${name}=${values[name]}`).join(',')}` : game.name;
}

export async function startView(main, params, signal) {
  const [known, roster] = await Promise.all([games(), players()]);
  if (signal.aborted) return;
  known.sort((a, b) => (ORDER.indexOf(a.name) + 1 || 99) - (ORDER.indexOf(b.name) + 1 || 99));
  const chosen = { ...DEFAULTS, ...memory.read('start', {}) };
  if (!known.some(({ name }) => name === chosen.game)) chosen.game = known[0].name;
  const panel = h('form', { class: 'card setup', on: { submit: (event) => { event.preventDefault(); begin(); } } });
  const error = h('p', { class: 'error', role: 'alert', 'data-testid': 'error' });
  const gameOf = () => known.find(({ name }) => name === chosen.game);
  const valuesOf = () => ({ ...defaults(gameOf()), ...chosen.options[chosen.game] });
  const set = (key, value, redraw = true) => {
    chosen[key] = value;
    memory.write('start', chosen);
    error.textContent = '';
    if (redraw) draw();
  };

  const cards = h('fieldset', { class: 'cards' }, h('legend', { class: 'unseen' }, 'Game'), known.map((game) => h('label', { class: 'game', 'data-testid': `game-${game.name}` },
    h('input', { type: 'radio', name: 'game', value: game.name, checked: game.name === chosen.game, on: { change: () => set('game', game.name) } }),
    picture(game.name), h('span', { class: 'name' }, title(game.name)), h('span', { class: 'quiet' }, blurb(game)))));

  /** Asks for one side of the computer's: a level, or any player of the roster. */
  function computer() {
    const others = roster.filter(({ name }) => !isHuman(name) && name !== 'level');
    const level = h('output', {}, `Level ${chosen.level}, ${levelWords(chosen.level)}`);
    const slide = (event) => {
      set('level', Number(event.target.value), false);
      level.textContent = `Level ${chosen.level}, ${levelWords(chosen.level)}`;
    };
    return [
      choice('Strength', [['level', 'Level 1 to 10'], ...others.map(({ name, summary }) => [name, `${capital(name)}: ${summary}`]), ['spec', 'Another player, by its spec']],
        chosen.opponent, (value) => set('opponent', value), 'opponent'),
      chosen.opponent === 'level' && h('label', { class: 'field' }, level, h('input', { type: 'range', min: 1, max: 10, value: chosen.level, 'data-testid': 'level', 'aria-label': 'Level', on: { input: slide } })),
      chosen.opponent === 'spec' && specField('Player', 'spec', 'spec'),
    ];
  }

  function specField(label, key, id) {
    return h('label', { class: 'field' }, h('span', {}, label),
      h('input', { value: chosen[key], placeholder: 'alphabeta:seconds=2', 'data-testid': id, required: true, spellcheck: 'false', on: { input: (event) => set(key, event.target.value, false) } }));
  }

  /** One field for one of the game's parameters. */
  function option({ name, kind, note, choices }) {
    const value = valuesOf()[name];
    const keep = (entered) => set('options', { ...chosen.options, [chosen.game]: { ...chosen.options[chosen.game], [name]: entered } }, false);
    const label = LABELS[name] ?? capital(name);
    const hint = note && h('small', {}, note);
    if (kind === 'bool') {
      return h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: value, 'data-testid': `option-${name}`, on: { change: (event) => keep(event.target.checked) } }), h('span', {}, label, hint && ': ', hint));
    }
    if (choices.length) return choice(label, choices.map((text) => [text, text]), value, keep, `option-${name}`);
    return h('label', { class: 'field' }, h('span', {}, label), h('input', { type: 'number', min: 1, max: 20, value: value || '', placeholder: 'auto', 'data-testid': `option-${name}`,
      on: { input: (event) => keep(event.target.value === '' ? '' : Number(event.target.value)) } }), hint);
  }

  function draw() {
    const game = gameOf();
    const { activeElement: active } = document;
    const kept = panel.contains(active) && (active.dataset.testid ? `[data-testid="${active.dataset.testid}"]` : `[name="${active.name}"][value="${active.value}"]`);
    const own = chosen.options[chosen.game];
    panel.replaceChildren(...[
      h('h2', {}, title(game.name)),
      segmented('mode', 'Opponent', [['computer', 'Computer'], ['friend', 'A friend'], ['watch', 'Just watch']], chosen.mode, (value) => set('mode', value)),
      ...(chosen.mode === 'computer' ? computer() : []),
      ...(chosen.mode === 'watch' ? [h('div', { class: 'fields' }, specField('First player', 'firstWatched', 'first'), specField('Second player', 'secondWatched', 'second'))] : []),
      chosen.mode === 'computer' && segmented('begins', 'Who begins', [['you', 'You'], ['computer', 'Computer'], ['chance', 'By chance']], chosen.begins, (value) => set('begins', value)),
      game.parameters.length > 0 && h('details', { open: Boolean(own) || game.name === 'mnk' || game.name === 'line' }, h('summary', {}, 'Board and rules'), h('div', { class: 'fields' }, game.parameters.map(option))),
      chosen.mode !== 'watch' && h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: chosen.warn, 'data-testid': 'warn', on: { change: (event) => set('warn', event.target.checked, false) } }), h('span', {}, 'Warn me before blunders')),
      error,
      h('div', { class: 'go' }, h('button', { type: 'submit', class: 'primary', 'data-testid': 'start' }, chosen.mode === 'watch' ? 'Watch' : 'Play')),
    ].filter(Boolean));
    if (kept) panel.querySelector(kept)?.focus();
  }

  function seats() {
    if (chosen.mode === 'friend') return ['human', 'human'];
    if (chosen.mode === 'watch') return [chosen.firstWatched, chosen.secondWatched];
    const opponent = { level: `level:${chosen.level}`, spec: chosen.spec.trim() }[chosen.opponent] ?? chosen.opponent;
    const first = chosen.begins === 'you' || (chosen.begins === 'chance' && Math.random() < 0.5);
    return first ? ['human', opponent] : [opponent, 'human'];
  }

  async function begin() {
    error.textContent = '';
    try {
      const [first, second] = seats();
      const { id } = await create({ game: specOf(gameOf(), valuesOf()), first, second });
      location.hash = `match=${encodeURIComponent(id)}`;
    } catch (refusal) {
      error.textContent = refusal.message;
    }
  }

  draw();
  const shelf = h('section', { class: 'recent', 'data-testid': 'recent', 'aria-labelledby': 'recent-title', hidden: true });
  main.replaceChildren(h('div', { class: 'start' },
    h('div', { class: 'intro' }, h('h1', {}, 'What shall we play?'), h('p', {}, 'Pick a game and an opponent. Ask what the engine thinks whenever you like; it never tells unasked.')),
    cards, panel, shelf,
    h('p', { class: 'also' }, h('a', { href: '#puzzle' }, 'Solve puzzles'), ' · ', button('Import a game', 'import', importDialog, { class: 'plain' }))));
  fillShelf(shelf, await recent(signal));
}

/** The latest matches, to go on with. */
function fillShelf(shelf, matches) {
  shelf.hidden = !matches.length;
  shelf.replaceChildren(h('h2', { id: 'recent-title' }, 'Lately'), h('ul', {}, matches.map((match) => h('li', {},
    h('a', { href: `#match=${encodeURIComponent(match.id)}` }, h('strong', {}, title(match.game)),
      h('span', { class: 'quiet' }, `${playerName(match.first)} – ${playerName(match.second)}`),
      h('span', { class: match.over ? 'quiet' : 'live' }, match.over ? capital(match.verdict) : `move ${match.plies + 1}, ${match.verdict}`))))));
}
