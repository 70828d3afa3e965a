// The compile panel: errors that lead to their lines, why it failed, and the log as it comes.
import type { ToPage } from '../src/panels/messages';
import { Compile } from './compile/model';
import type { Found } from './compile/model';
import { Lines } from './compile/lines';
import { byId, h } from './shared/dom';
import { drawHead } from './shared/head';
import { hear, painter, remember, send } from './shared/host';
import { Progress, words } from './shared/run';

let texts: Record<string, string> = {};
let run: string | null = null;
let model = new Compile();
let progress = new Progress();
let shownErrors = -1;

const top = h('div');
const errors = h('div', { class: 'errors', role: 'list' });
const filter = h('input', { type: 'search', oninput: () => paint() }) as HTMLInputElement;
const follow = h('input', {
  type: 'checkbox',
  id: 'follow',
  onchange: () => {
    log.follow = follow.checked;
    paint();
  },
}) as HTMLInputElement;
const followText = h('label', { for: 'follow' });
const counted = h('span', { class: 'muted' });
const log = new Lines('log', () => paint());
byId('app').append(top, errors, h('div', { class: 'bar' }, filter, follow, followText, h('span', { class: 'grow' }), counted), log.element);

const paint = painter(() => {
  drawHead(top, progress, texts, run);
  if (shownErrors !== model.found.length + model.diagnoses.length) {
    shownErrors = model.found.length + model.diagnoses.length;
    errors.replaceChildren(...list());
  }
  const lines = model.matching(filter.value);
  counted.textContent = `${model.dropped + model.lines.length} ${texts.lines ?? ''}`;
  follow.checked = log.follow;
  log.show(lines);
});

function list(): HTMLElement[] {
  const made = model.diagnoses.map((one) =>
    h(
      'div',
      { class: 'diagnosis', role: 'listitem' },
      h('b', {}, `${texts.diagnosis ?? ''}: `),
      words(one.cause),
      h('div', {}, h('b', {}, `${texts.next ?? ''}: `), words(one.next)),
    ),
  );
  return [...made, ...model.found.map(row)];
}

function row(found: Found): HTMLElement {
  const where = found.path === null ? '' : `${found.path.replace(/.*\//, '')}:${found.line}`;
  const open = (): void => {
    if (found.path !== null && found.resolved) {
      send({ type: 'open', path: found.path, line: found.line, column: found.column });
    }
  };
  return h(
    'div',
    { role: 'listitem' },
    h('button', { class: `found ${found.severity}`, title: found.path ?? '', onclick: open }, h('span', { class: 'where' }, where), ' ', found.message),
  );
}

hear((message: ToPage) => {
  if (message.type === 'reset') {
    ({ texts, run } = message);
    model = new Compile();
    progress = new Progress();
    shownErrors = -1;
    filter.placeholder = texts.filter ?? '';
    filter.setAttribute('aria-label', texts.filter ?? '');
    followText.textContent = texts.follow ?? '';
    log.follow = true;
    remember(message.target);
  } else if (message.type === 'events') {
    progress.take(message.events, message.state);
    model.take(message.events);
  } else if (message.type === 'log') {
    model.add(message.log, message.lines, message.partial);
  }
  paint();
});
