/** Records: a game as a link or as text to take away, and back from text. */
import { button, choice, h } from './dom.js';
import { exported, formats, games, imported } from './api.js';
import { inAddress, title } from './words.js';

/** The link that shows a game at its last move. */
export function linkTo(game, moves) {
  return `#game=${inAddress(game)}&moves=${moves.map(encodeURIComponent).join(',')}`;
}

const named = ({ name, summary }) => [name, `${name}: ${summary}`];

function open(heading, ...children) {
  const close = () => dialog.remove();
  const dialog = h('dialog', { 'data-testid': 'dialog', 'aria-labelledby': 'dialog-title', on: { close } },
    h('div', { class: 'head' }, h('h2', { id: 'dialog-title' }, heading),
      button('Close', 'close', () => dialog.close(), { class: 'plain' })),
    ...children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Copies what a field holds; where the browser refuses, it is selected for the person to copy. */
function copier(field, id) {
  const click = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      copy.textContent = 'Copied';
    } catch {
      copy.textContent = 'Selected';
    }
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  };
  const copy = button('Copy', id, click);
  return copy;
}

/** The link, and the record in every format that holds this game. */
export async function shareDialog(game, moves) {
  const value = `${location.origin}/${linkTo(game, moves)}`;
  const link = h('input', { readonly: true, 'aria-label': 'Link to this position', 'data-testid': 'link', value });
  const text = h('textarea', { readonly: true, rows: 7, 'aria-label': 'Record', 'data-testid': 'record' });
  const error = h('p', { class: 'error', role: 'alert', 'data-testid': 'error' });
  const write = async (format) => {
    error.textContent = '';
    try {
      text.value = (await exported({ game, moves, format })).text;
    } catch (refusal) {
      text.value = '';
      error.textContent = refusal.message;
    }
  };
  const place = h('div', {});
  open('Share', h('p', {}, 'Whoever opens this link sees the board as it is now, with all moves.'),
    h('div', { class: 'row' }, link, copier(link, 'copy')), place, text,
    h('div', { class: 'row' }, copier(text, 'copy-record')), error);
  try {
    const known = await formats(game);
    place.replaceChildren(choice('As a record', known.map(named), known[0]?.name, write, 'format'));
    if (known.length) await write(known[0].name);
  } catch (refusal) {
    error.textContent = refusal.message;
  }
}

/** A record from elsewhere; once read it is shown by its link. */
export async function importDialog() {
  const placeholder = 'Paste a record here';
  const text = h('textarea', { rows: 7, 'aria-label': 'Record', 'data-testid': 'import-text', placeholder });
  const error = h('p', { class: 'error', role: 'alert', 'data-testid': 'error' });
  // Each format holds at least one of these games.
  const holders = ['tictactoe', 'connect4', 'reversi'];
  const [known, all] = await Promise.all([Promise.all(holders.map(formats)), games()]);
  const byName = new Map(known.flat().map(named));
  const titles = [['', 'as the record says'], ...all.map(({ name }) => [name, title(name)])];
  let [format, game] = [known[0][0].name, ''];
  const go = async () => {
    try {
      const found = await imported({ text: text.value, format, ...(game ? { game } : {}) });
      dialog.close();
      location.hash = linkTo(found.game, found.moves);
    } catch (refusal) {
      error.textContent = refusal.message;
    }
  };
  const dialog = open('Import a game', text,
    choice('Format', [...byName], format, (value) => { format = value; }, 'import-format'),
    choice('Game', titles, '', (value) => { game = value; }, 'import-game'),
    error, h('div', { class: 'row' }, button('Show it', 'import-go', go, { class: 'primary' })));
}
