/** How games, players, moves and judgements are called; no drawing and no requests here. */

const TITLES = {
  connect4: 'Connect Four', squava: 'Squava', tictactoe: 'Tic-tac-toe', gomoku6: 'Gomoku 6×6', gomoku: 'Gomoku',
  reversi: 'Reversi', mnk: 'K in a row', line: 'Your own rules',
};
const BLURBS = {
  connect4: 'Stones fall; four in a row wins', squava: 'Four in a row wins, but three in a row loses',
  tictactoe: 'Three in a row, small or large', gomoku6: 'Four in a row on a small board',
  gomoku: 'Five in a row on a large board', reversi: 'Turn their discs over; most discs win',
  mnk: 'Choose the board and how many in a row', line: 'Gravity, lines that lose, swap: make your own game',
};
const LEVELS = ['', 'a beginner', 'a beginner', 'casual', 'casual', 'solid', 'solid', 'strong', 'strong', 'expert',
  'never errs'];

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The name of a game's family, as a CSS class; games from files share one. */
export const family = (spec) => (isFile(spec) ? 'own' : spec.split(':')[0]);

/** Whether a spec names a Python file that was offered when the studio was started. */
export const isFile = (spec) => spec.endsWith('.py');

/** "K in a row · 5×5, 4 in a row"; for a file its name, "Dots and boxes" */
export function title(spec) {
  if (isFile(spec)) return capital(spec.split(/[\\/]/).at(-1).slice(0, -'.py'.length).replaceAll('_', ' '));
  const [name, rest] = spec.split(/:(.*)/s);
  const head = TITLES[name] ?? capital(name);
  if (!rest) return head;
  const said = rest.replace(/^(\d+)x(\d+)x(\d+)$/, '$1×$2, $3 in a row').replace(/(\d)x(?=\d)/g, '$1×')
    .replace(/size=(\d+)/, '$1×$1').replace(/win=(\d+)/, '$1 in a row').replaceAll('=true', '').replaceAll('=', ' ')
    .replace(/,(?! )/g, ', ');
  return `${head} · ${said}`;
}

/** What a game is about, in a few words; its own where we have none. */
export const blurb = ({ name, summary }) => BLURBS[name] ?? capital(summary);

export const levelWords = (level) => LEVELS[level] ?? '';

export function playerName(spec) {
  const [name, rest] = spec.split(/:(.*)/s);
  if (name === 'human') return 'Human';
  // A model's name may say the player's again: squava-hybrid.
  return [capital(name), rest?.split(',').filter((part) => !part.endsWith(`-${name}`)).join(', ')].filter(Boolean).join(' ');
}

export const isHuman = (spec) => spec === 'human';

/** How many of a match's sides are human. */
export const humans = (match) => [match.first, match.second].filter(isHuman).length;

/** The hybrid at the table, the one to move where both are; undefined where there is none. */
export function hybridOf({ first, second }, side) {
  return (side ? [second, first] : [first, second]).find((spec) => /^hybrid(:|$)/.test(spec));
}

/** "You" and "AI" where there is one human, else as the move list has it: AI, or nothing between two humans. */
export function who(match, side) {
  const human = isHuman(side ? match.second : match.first);
  if (!human) return 'AI';
  return humans(match) === 1 ? 'You' : '';
}

/** "4. AI (O) b2", or "4. O b2" where nobody has to be told apart. */
export function moveText(ply, move, symbol, name = '') {
  return `${ply}. ${name ? `${name} (${symbol})` : symbol} ${move}`;
}

/** A judgement as a number for the side it speaks of: proven values as 1, 0, -1, else the estimate. */
export function worth(part) {
  if (part.value) return { win: 1, draw: 0, loss: -1 }[part.value];
  return part.estimate ?? 0;
}

/** A spec in an address, with only what must be escaped. */
export function inAddress(spec) {
  return encodeURIComponent(spec).replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%3D', '=');
}

/** How strongly a cell is coloured, 0 to 1: near wins and losses more than far ones. */
export function strength(part) {
  return Math.abs(worth(part)) * (part.plies ? 1 - Math.min(part.plies, 24) / 40 : 1);
}

/** "proven", or "estimate, 12 plies ahead": said wherever a value is shown. */
export function certainty(record) {
  if (record.exact) return 'proven';
  return record.depth ? `estimate, ${record.depth} ${record.depth === 1 ? 'ply' : 'plies'} ahead` : 'estimate';
}

export const signed = (number) => `${number < 0 ? '−' : '+'}${Math.abs(number).toFixed(2)}`;

/** "wins in 9", "balanced −0.05" */
export function outcomeWords(part) {
  const words = part.words ?? part.value ?? 'unclear';
  return part.value || part.estimate == null ? words : `${words} ${signed(part.estimate)}`;
}

/** The few letters that fit into a cell; `brief` for boards with small cells. */
export function cellWords(part, brief) {
  if (brief) return part.best ? '★' : worth(part) > 0.3 ? '+' : worth(part) < -0.3 ? '−' : '=';
  if (part.margin) return `${part.value} ${Math.abs(part.margin)}`;
  if (part.value) return part.plies ? `${part.value} ${part.plies}` : part.value;
  return signed(part.estimate ?? 0);
}

/** The first reason, or where the move leads. */
export function whyWords(candidate) {
  if (candidate.reasons?.length) return candidate.reasons[0].text;
  const { pv } = candidate;
  return pv.length > 1 ? `expected: ${pv.slice(0, 6).join(' ')}${pv.length > 6 ? ' …' : ''}` : '';
}

const CLEARLY = 0.5; // the difference in estimates that the server calls a slip

/** Whether `move` throws something away, as the server's review judges it; null where it does not. */
export function fault(record, move) {
  const [best] = record.candidates;
  const played = record.candidates.find((candidate) => candidate.move === move);
  if (!played || played === best) return null;
  const lost = worth(best) - worth(played);
  const proven = played.exact && record.exact;
  return (proven ? lost > 0 : lost > CLEARLY) ? { kind: proven ? 'mistake' : 'slip', played, best } : null;
}
