/** The start: pick a game, pick an opponent, play. Everything has a default, so one click is enough. */
import { button, checkbox, choice, h, memory, segmented } from './dom.js';
import { create, games, players, recent } from './api.js';
import { blurb, capital, isHuman, levelWords, playerName, title } from './words.js';
import { importDialog } from './records.js';
import { picture, rank } from './pictures.js';

const LABELS = {
  size: 'Size', rows: 'Rows', cols: 'Columns', win: 'In a row to win', lose: 'In a row loses', pie: 'Swap rule',
  renju: 'Renju rules', overline: 'Longer lines', gravity: 'Gravity',
};
const DEFAULTS = {
  game: 'connect4', mode: 'computer', begins: 'you', opponent: 'level', level: 3, spec: '',
  first: 'level:5', second: 'level:8', warn: false, options: {},
};
const MODES = [['computer', 'Computer'], ['friend', 'A friend'], ['watch', 'Just watch']];
const BEGINS = [['you', 'You'], ['computer', 'Computer'], ['chance', 'By chance']];
// How learned players play, where that is not by their network alone.
const LEARNED = { hybrid: 'search with a learned value', alphazero: 'tree search with a learned policy and value' };

export async function startView(main, params, signal) {
  const [known, roster] = await Promise.all([games(), players()]);
  if (signal.aborted) return;
  const shelf = h('section', { class: 'recent', 'data-testid': 'recent', 'aria-labelledby': 'recent-title', hidden: true });
  const start = new Start([...known].sort((a, b) => rank(a) - rank(b)), roster);
  main.replaceChildren(h('div', { class: 'start' },
    h('div', { class: 'intro' }, h('h1', {}, 'What shall we play?'),
      h('p', {}, 'Pick a game and an opponent. Ask what the engine thinks whenever you like; it stays silent until you do.')),
    start.cards, start.panel, shelf,
    h('p', { class: 'also' }, h('a', { href: '#puzzle' }, 'Solve puzzles'), ' · ',
      button('Import a game', 'import', importDialog, { class: 'plain' }))));
  const matches = await recent(signal);
  shelf.hidden = !matches.length;
  shelf.replaceChildren(h('h2', { id: 'recent-title' }, 'Lately'), h('ul', {}, matches.map(shelved)));
}

/** A match to go on with. */
function shelved(match) {
  const state = match.over ? capital(match.verdict) : `move ${match.plies + 1}, ${match.verdict}`;
  return h('li', {}, h('a', { href: `#match=${encodeURIComponent(match.id)}` }, h('strong', {}, title(match.game)),
    h('span', { class: 'quiet' }, `${playerName(match.first)} – ${playerName(match.second)}`),
    h('span', { class: match.over ? 'quiet' : 'live' }, state)));
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

class Start {
  constructor(known, roster) {
    this._known = known;
    this._roster = roster;
    this._chosen = { ...DEFAULTS, ...memory.read('start', {}) };
    if (!this._game) this._chosen.game = known[0].name;
    this._error = h('p', { class: 'error', role: 'alert', 'data-testid': 'error' });
    this.cards = h('fieldset', { class: 'cards' }, h('legend', { class: 'unseen' }, 'Game'), known.map((game) => this._card(game)));
    this.panel = h('form', { class: 'card setup', on: { submit: (event) => { event.preventDefault(); this._begin(); } } });
    this._draw();
  }

  get _game() {
    return this._known.find(({ name }) => name === this._chosen.game);
  }

  get _values() {
    return { ...defaults(this._game), ...this._chosen.options[this._chosen.game] };
  }

  /** Remembers a choice, and shows what follows from it. */
  _set(key, value) {
    this._chosen[key] = value;
    memory.write('start', this._chosen);
    this._error.textContent = '';
    if (['game', 'mode', 'opponent'].includes(key)) this._draw();
  }

  _card(game) {
    const change = () => this._set('game', game.name);
    return h('label', { class: 'game', 'data-testid': `game-${game.name}` },
      h('input', { type: 'radio', name: 'game', value: game.name, checked: game.name === this._chosen.game, on: { change } }),
      picture(game), h('span', { class: 'name' }, title(game.name)), h('span', { class: 'quiet' }, blurb(game)));
  }

  _draw() {
    const { _chosen: chosen, _game: game } = this;
    const focused = this._focused();
    this.panel.replaceChildren(...[
      h('h2', {}, title(game.name)),
      segmented('mode', 'Opponent', MODES, chosen.mode, (value) => this._set('mode', value)),
      ...{ computer: () => this._computer(), friend: () => [], watch: () => this._watched() }[chosen.mode](),
      game.parameters.length > 0 && this._rules(),
      chosen.mode !== 'watch'
        && checkbox('Warn me before blunders', chosen.warn, (value) => this._set('warn', value), 'warn'),
      this._error,
      h('div', { class: 'go' }, h('button', { type: 'submit', class: 'primary', 'data-testid': 'start' },
        chosen.mode === 'watch' ? 'Watch' : 'Play')),
    ].filter(Boolean));
    if (focused) this.panel.querySelector(focused)?.focus();
  }

  /** What has the focus, so that it keeps it when the panel is drawn anew. */
  _focused() {
    const { activeElement: active } = document;
    if (!this.panel.contains(active)) return null;
    const { testid } = active.dataset;
    return testid ? `[data-testid="${testid}"]` : `[name="${active.name}"][value="${active.value}"]`;
  }

  /** The computer's side: a level, or any player of the roster; and who begins. */
  _computer() {
    const { _chosen: chosen } = this;
    const others = this._roster.filter(({ name }) => !isHuman(name) && name !== 'level');
    const options = [['level', 'Level 1 to 10'], ...others.flatMap((player) => this._named(player)),
      ['spec', 'Another player, by its spec']];
    // A learned player is for one game: in the others there is somebody else.
    if (!options.some(([name]) => name === chosen.opponent)) chosen.opponent = DEFAULTS.opponent;
    return [
      choice('Strength', options, chosen.opponent, (value) => this._set('opponent', value), 'opponent'),
      chosen.opponent === 'level' && this._level(),
      chosen.opponent === 'spec' && this._spec('Player', 'spec'),
      segmented('begins', 'Who begins', BEGINS, chosen.begins, (value) => this._set('begins', value)),
    ];
  }

  /** A player as a choice; one that has learned is offered once for every model of this game. */
  _named({ name, summary, models }) {
    if (!models) return [[name, `${capital(name)}: ${summary}`]];
    const own = models.filter(({ game }) => game === specOf(this._game, this._values));
    const how = LEARNED[name] ?? 'a network without search';
    return own.map((model) => [model.spec, `Learned: ${model.name}, ${how}`]);
  }

  _level() {
    const words = () => `Level ${this._chosen.level}, ${levelWords(this._chosen.level)}`;
    const label = h('output', {}, words());
    const input = (event) => { this._set('level', Number(event.target.value)); label.textContent = words(); };
    return h('label', { class: 'field' }, label, h('input', { type: 'range', min: 1, max: 10, value: this._chosen.level,
      'data-testid': 'level', 'aria-label': 'Level', on: { input } }));
  }

  _watched() {
    return [h('div', { class: 'fields' }, this._spec('First player', 'first'), this._spec('Second player', 'second'))];
  }

  _spec(label, key) {
    const input = (event) => this._set(key, event.target.value);
    return h('label', { class: 'field' }, h('span', {}, label), h('input', { value: this._chosen[key], required: true,
      placeholder: 'alphabeta:seconds=2', spellcheck: 'false', 'data-testid': key, on: { input } }));
  }

  _rules() {
    const { name, parameters } = this._game;
    const open = Boolean(this._chosen.options[name]) || name === 'mnk' || name === 'line';
    return h('details', { open }, h('summary', {}, 'Board and rules'),
      h('div', { class: 'fields' }, parameters.map((parameter) => this._option(parameter))));
  }

  /** A field for one of the game's parameters. */
  _option({ name, kind, note, choices }) {
    const { game, options } = this._chosen;
    const [value, label, id] = [this._values[name], LABELS[name] ?? capital(name), `option-${name}`];
    const keep = (entered) => this._set('options', { ...options, [game]: { ...this._chosen.options[game], [name]: entered } });
    if (kind === 'bool') return checkbox(note ? `${label}: ${note}` : label, value, keep, id);
    if (choices.length) return choice(label, choices.map((text) => [text, text]), value, keep, id);
    const input = (event) => keep(event.target.value === '' ? '' : Number(event.target.value));
    return h('label', { class: 'field' }, h('span', {}, label), h('input', { type: 'number', min: 1, max: 20,
      value: value || '', placeholder: 'auto', 'data-testid': id, on: { input } }), note && h('small', {}, note));
  }

  _seats() {
    const { _chosen: chosen } = this;
    if (chosen.mode === 'friend') return ['human', 'human'];
    if (chosen.mode === 'watch') return [chosen.first, chosen.second];
    const opponent = { level: `level:${chosen.level}`, spec: chosen.spec.trim() }[chosen.opponent] ?? chosen.opponent;
    const isFirst = chosen.begins === 'you' || (chosen.begins === 'chance' && Math.random() < 0.5);
    return isFirst ? ['human', opponent] : [opponent, 'human'];
  }

  async _begin() {
    const go = this.panel.querySelector('[data-testid="start"]');
    if (go.disabled) return;
    this._error.textContent = '';
    go.disabled = true;
    go.textContent = 'Starting…';
    try {
      const [first, second] = this._seats();
      const { id } = await create({ game: specOf(this._game, this._values), first, second });
      location.hash = `match=${encodeURIComponent(id)}`;
    } catch (refusal) {
      this._draw();
      this._error.textContent = refusal.message;
    }
  }
}
