/**
 * The page: what the address says is what is shown, so a reload, a restart of the server and a link all lead back.
 *
 *   #                          start
 *   #match=ID                  play          #match=ID&view=review   its review
 *   #game=SPEC&moves=a,b,c     a game or position by link
 *   #puzzle=SPEC&plies=N&seed=N
 *
 * Hooks for tests (data-testid):
 *   everywhere  home, nav-play, nav-puzzles, theme, connection, preparation, live, board, cell-b2, verdict, error,
 *               choice, choice-MOVE, choice-none
 *   start       game-NAME, mode-computer|friend|watch, opponent, level, spec, first, second, begins-you|computer|chance,
 *               option-NAME, warn, start, import, recent
 *   play        moves, undo, hint, thinking, review, new, again, pause, resign, share, warn, extra-MOVE, note,
 *               take-back, play-anyway, retry
 *   thinking    thinking-panel, value, certainty, value-bar, candidates, line-MOVE, all-candidates,
 *               hybrid, hybrid-choice, hybrid-moves, hybrid-all
 *   review      judge, graph, progress, comment, first, back, forward, last, moves, move-PLY, mistake-PLY, thinking,
 *               branch, branch-as, share, import, to-game
 *   puzzle      puzzle-game, puzzle-plies, puzzle-next, puzzle-hint, puzzle-again, puzzle-give-up, puzzle-note, solved
 *   dialogs     dialog, close, link, copy, format, record, copy-record, import-text, import-format, import-game, import-go
 */
import { announce, h, memory } from './dom.js';
import { isGone, onConnection } from './api.js';
import { startView } from './start.js';
import { playView } from './play.js';
import { reviewView } from './review.js';
import { puzzleView } from './puzzles.js';
import { showPreparation } from './preparation.js';

const main = document.getElementById('main');
let leaving = new AbortController();

/** Each view fills `main` and stops all it does when the signal aborts. */
function viewFor(params) {
  if (params.has('match')) return params.get('view') === 'review' ? reviewView : playView;
  if (params.has('game')) return reviewView;
  return params.has('puzzle') ? puzzleView : startView;
}

async function route() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const params = new URLSearchParams(location.hash.slice(1));
  const view = viewFor(params);
  document.querySelector('dialog')?.remove();
  document.body.dataset.view = view.name.replace('View', '');
  for (const link of document.querySelectorAll('nav a')) {
    const isHere = link.getAttribute('href') === '#puzzle' ? view === puzzleView : view === startView;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = 'Zermelo';
  main.replaceChildren();
  scrollTo(0, 0);
  try {
    await view(main, params, signal);
  } catch (error) {
    if (isGone(error) || signal.aborted) return;
    main.replaceChildren(h('section', { class: 'card lost' }, h('h1', {}, 'That did not work'),
      h('p', { role: 'alert', 'data-testid': 'error' }, error.message), h('a', { class: 'button primary', href: '#' }, 'To the start')));
  }
}

/** Light or dark by the system's wish, until the button says otherwise. */
function theme() {
  const toggle = document.getElementById('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (memory.read('theme', null) ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const apply = () => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    toggle.setAttribute('aria-pressed', String(isDark()));
  };
  toggle.addEventListener('click', () => { memory.write('theme', isDark() ? 'light' : 'dark'); apply(); });
  system.addEventListener('change', apply);
  apply();
}

theme();
// A plain anchor would put its name where the match's id stands.
document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
onConnection((lost) => {
  document.getElementById('connection').hidden = !lost;
  announce(lost ? 'The connection is lost. Trying again.' : 'The connection is back.');
});
showPreparation(document.getElementById('preparation'));
addEventListener('hashchange', route);
route();
