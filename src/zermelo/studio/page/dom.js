/**
 * Elements from code. Text goes in as text nodes only, so nothing that a server or a link says can become markup;
 * styles go in as custom properties, which the content security policy allows.
 */
const SVG = 'http://www.w3.org/2000/svg';

/** An HTML element; `on` holds listeners, `vars` custom properties, null and false attributes are left out. */
export function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'on') for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else if (key === 'vars') for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** A button with words; `id` is the hook for tests. */
export function button(text, id, click, attributes = {}) {
  return h('button', { type: 'button', 'data-testid': id, ...attributes, on: { click } }, text);
}

/** A row of radio buttons that looks like one control; calls back with the chosen value. */
export function segmented(name, legend, options, value, change) {
  return h('fieldset', { class: 'segmented' }, h('legend', {}, legend), h('div', { class: 'segments' }, options.map(
    ([key, text]) => h('label', { 'data-testid': `${name}-${key}` },
      h('input', { type: 'radio', name, value: key, checked: key === value, on: { change: () => change(key) } }),
      h('span', {}, text)))));
}

/** A labelled select. */
export function choice(label, options, value, change, id) {
  return h('label', { class: 'field' }, h('span', {}, label),
    h('select', { 'data-testid': id, on: { change: (event) => change(event.target.value) } },
      options.map(([key, text]) => h('option', { value: key, selected: key === value }, text))));
}

/** A labelled checkbox; `label` may hold elements. */
export function checkbox(label, checked, change, id) {
  const box = h('input', { type: 'checkbox', checked, 'data-testid': id, on: { change: () => change(box.checked) } });
  return h('label', { class: 'check' }, box, h('span', {}, label));
}

/** Says something to people who listen instead of looking. */
export function announce(text) {
  const live = document.getElementById('live');
  // The same words twice in a row are spoken only when the region changes in between.
  live.textContent = '';
  setTimeout(() => { live.textContent = text; }, 50);
}

/** What the page remembers between visits; private windows may refuse, and nothing depends on it. */
export const memory = {
  read(key, otherwise) {
    try { return JSON.parse(localStorage.getItem(`zermelo.${key}`)) ?? otherwise; } catch { return otherwise; }
  },
  write(key, value) {
    try { localStorage.setItem(`zermelo.${key}`, JSON.stringify(value)); } catch { /* not kept, then */ }
  },
};

/** An X or an O, or a disc, as the board shows it. */
export function mark(side, discs) {
  const shape = discs
    ? [s('circle', { cx: 12, cy: 12, r: 9.5 }), s('circle', { class: 'inner', cx: 12, cy: 12, r: side ? 4.5 : 6.5 })]
    : side ? [s('circle', { cx: 12, cy: 12, r: 7 })] : [s('path', { d: 'M6 6 18 18M18 6 6 18' })];
  return s('svg', { class: `mark ${discs ? 'disc' : 'line'} side${side}`, viewBox: '0 0 24 24', 'aria-hidden': 'true' }, shape);
}
