/** A progress bar for the first time a game is played, when its kernels have to be compiled. */
import { onLate, pause, preparation } from './api.js';
import { h } from './dom.js';
import { title } from './words.js';

const INTERVAL = 400; // ms between two requests for the server's progress

/** Shows a bar in `element` whenever an answer is late because the server prepares a game. */
export function showPreparation(element) {
  let waiting = 0;
  onLate(async (answer) => {
    waiting += 1;
    if (waiting === 1) watch(element, () => waiting > 0);
    await answer.catch(() => null);
    waiting -= 1;
  });
}

async function watch(element, isWaiting) {
  let best = 0; // the server may find more to do on the way, but a bar does not go back
  while (isWaiting()) {
    const state = await preparation().catch(() => null);
    const isPreparing = isWaiting() && state?.games.length > 0;
    element.hidden = !isPreparing;
    if (isPreparing) {
      best = Math.max(best, state.share);
      element.replaceChildren(...bar({ ...state, share: best }));
    }
    await pause(INTERVAL);
  }
  element.hidden = true;
}

function bar({ games, share, seconds_left: seconds }) {
  const percent = Math.floor(100 * share);
  const text = `Preparing ${games.map(title).join(', ')}, ${percent} %, about ${Math.max(1, Math.round(seconds))} s left`;
  return [h('span', {}, text), h('progress', { max: 100, value: percent, 'aria-label': text })];
}
