// The compile panel: errors that lead to their lines, why it failed, and the log as it comes.
import type { ToPage } from '../src/panels/messages';
import type { Changes } from './compile/compare';
import { changes } from './compile/compare';
import { Compile } from './compile/model';
import type { Found } from './compile/model';
import { Lines } from './compile/lines';
import { answered } from './shared/ask';
import { byId, h } from './shared/dom';
import { drawHead } from './shared/head';
import { History, replayed, save } from './shared/history';
import { hear, painter, remember, send } from './shared/host';
import { Progress, words } from './shared/run';

let texts: Record<string, string> = {};
let run: string | null = null;
let model = new Compile();
let progress = new Progress();
let shownErrors = -1;
let operator = '';
/** Whether every line of the logs was asked for, as they come. */
let asked = false;
/** Whether the log is to be written as soon as all of it is here. */
let exporting = false;
/** The run that is compared with. */
let other: Compile | null = null;

const top = h('div');
const history = new History(() => void compared());
const errors = h('div', { class: 'errors', role: 'list' });
const filter = h('input', { type: 'search', oninput: () => paint() }) as HTMLInputElement;
const follow = h('input', {
  type: 'checkbox',
  id: 'follow',
  onchange: () => {
    log.follow = follow.checked;
    if (log.follow) {
      // At once: a scroll that is still told of would take it back.
      log.element.scrollTop = log.element.scrollHeight;
    }
    paint();
  },
}) as HTMLInputElement;
const followText = h('label', { for: 'follow' });
const counted = h('span', { class: 'muted' });
const log = new Lines(
  'log',
  () => paint(),
  (heading) => model.isFolded(heading),
  (heading) => {
    // What follows the end would jump away from under the one who reads.
    log.follow = false;
    model.fold(heading, !model.isFolded(heading));
    paint();
  },
);
const foldAll = h('button', { class: 'second', onclick: () => folded(true) });
const unfoldAll = h('button', { class: 'second', onclick: () => folded(false) });
byId('app').append(top, history.element, errors, h('div', { class: 'bar' }, filter, follow, followText, foldAll, unfoldAll, h('span', { class: 'grow' }), counted), log.element);

const paint = painter(() => {
  drawHead(top, progress, texts, run);
  if (shownErrors !== model.found.length + model.diagnoses.length) {
    shownErrors = model.found.length + model.diagnoses.length;
    errors.replaceChildren(...list());
  }
  const lines = model.matching(filter.value);
  const rest = model.rest();
  counted.textContent = `${model.dropped + model.lines.length + rest.missing + rest.lines.length} ${texts.lines ?? ''}`;
  follow.checked = log.follow;
  log.show(lines, model.shownRest(filter.value));
  // Who looks at the end needs no more; who looks elsewhere, for something or for all of it, does.
  ask(!log.follow || filter.value.trim() !== '' || exporting);
  if (exporting && !rest.lines.length) {
    exporting = false;
    exportLog();
  }
});

function ask(whole: boolean): void {
  if (whole !== asked) {
    asked = whole;
    send({ type: 'whole', wanted: whole });
  }
}

function folded(all: boolean): void {
  model.foldAll(all);
  paint();
}

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
  if (other === null) {
    return [...made, ...model.found.map((found) => row(found))];
  }
  const told: Changes = changes(model.found, other.found);
  const heading = (texts.gone ?? '').replace('{0}', history.other ?? '');
  return [
    ...made,
    ...model.found.map((found) => row(found, told.fresh.has(found) ? 'fresh' : '')),
    h('div', { class: 'muted', role: 'listitem' }, `${heading}: ${told.gone.length ? '' : (texts.noneGone ?? '')}`),
    ...told.gone.map((found) => row(found, 'gone')),
  ];
}

/** The errors of the run that is compared with. */
async function compared(): Promise<void> {
  const wanted = history.other;
  const read = new Compile();
  if (wanted !== null) await replayed(wanted, (events) => read.take(events));
  if (wanted === history.other) {
    other = wanted === null ? null : read;
    shownErrors = -1;
    paint();
  }
}

function exportLog(): void {
  const cut = model.dropped ? [(texts.oldest ?? '').replace('{0}', String(model.dropped))] : [];
  save(`${operator}-${run ?? ''}.log`, `${[...cut, ...model.lines].join('\n')}\n`);
}

/** `mark`: new, or no longer there, compared with another run. */
function row(found: Found, mark: 'fresh' | 'gone' | '' = ''): HTMLElement {
  const where = found.path === null ? '' : `${found.path.replace(/.*\//, '')}:${found.line}`;
  const open = (): void => {
    if (found.path !== null && found.resolved) {
      send({ type: 'open', path: found.path, line: found.line, column: found.column });
    }
  };
  return h(
    'div',
    { role: 'listitem' },
    h(
      'button',
      { class: `found ${found.severity} ${mark}`, title: found.path ?? '', onclick: open },
      mark === 'fresh' && h('span', { class: 'fresh' }, texts.fresh ?? ''),
      mark === 'fresh' && ' ',
      h('span', { class: 'where' }, where), ' ', found.message,
    ),
  );
}

hear((message: ToPage) => {
  if (message.type === 'reset') {
    ({ texts, run, operator } = message);
    other = null;
    model = new Compile();
    progress = new Progress();
    shownErrors = -1;
    asked = exporting = false;
    filter.placeholder = texts.filter ?? '';
    filter.setAttribute('aria-label', texts.filter ?? '');
    followText.textContent = texts.follow ?? '';
    foldAll.textContent = texts.foldAll ?? '';
    unfoldAll.textContent = texts.unfoldAll ?? '';
    log.element.setAttribute('aria-label', texts.log ?? '');
    log.follow = true;
    history.show(message.target, run, texts);
    history.exports([
      [
        texts.exportLog ?? '',
        () => {
          exporting = true;
          paint();
        },
      ],
    ]);
    remember(message.target);
  } else if (message.type === 'events') {
    const before = progress.state;
    progress.take(message.events, message.state);
    if (before !== progress.state && !progress.going) {
      history.refresh();
    }
    model.take(message.events);
  } else if (message.type === 'log') {
    model.add(message.log, message.lines, message.partial);
  } else if (message.type === 'ahead') {
    model.end(message.log, message.line, message.lines);
  } else {
    answered(message);
    return;
  }
  paint();
});
