// The precision panel: cases and PEs as they are checked, and what is known of the output of one of them.
import type { ToPage } from '../src/panels/messages';
import type { Answer } from './precision/document';
import { details } from './precision/details';
import type { Compared } from './precision/model';
import { Precision, compare, toCsv, worst } from './precision/model';
import type { Selected } from './precision/table';
import { Table, classOf, resultOf, worstOf } from './precision/table';
import { answered, ask } from './shared/ask';
import { byId, h } from './shared/dom';
import { drawHead } from './shared/head';
import { History, replayed, save } from './shared/history';
import { hear, painter, remember, send } from './shared/host';
import { error } from './shared/numbers';
import { Progress, words } from './shared/run';
import { heading, labelled } from './shared/table';

let texts: Record<string, string> = {};
let run: string | null = null;
let operator = '';
let model = new Precision();
let progress = new Progress();
let selected: Selected | null = null;
/** Whether the user chose; else it is the first that is wrong. */
let chosen = false;
let outputs: Answer | string | null = null;
let asking = 0;
let other: Precision | null = null;
let drawn = '';

const top = h('div');
const history = new History(() => void compared());
const empty = h('p', { class: 'muted' });
const table = new Table((one) => {
  selected = one;
  chosen = true;
  paint();
});
const comparison = h('section', { class: 'comparison' });
const detail = h('section', { class: 'details', tabindex: 0 });
byId('app').append(top, history.element, empty, table.element, comparison, detail);

const paint = painter(() => {
  drawHead(top, progress, texts, run);
  if (!chosen) {
    selected = first();
  }
  table.draw(model.rows, model.pes, selected, texts);
  table.element.hidden = !model.rows.length;
  empty.hidden = model.rows.length > 0 || run === null;
  empty.textContent = texts.noChecks ?? '';
  drawDetail();
  drawComparison();
});

/** The first PE that is wrong, else the last case's first. */
function first(): Selected | null {
  for (const row of model.rows) {
    const wrong = [...row.cells.values()].find((cell) => worstOf(cell) === 'FAIL');
    if (wrong) {
      return { key: row.key, pe: wrong.pe };
    }
  }
  const last = model.rows.filter((row) => row.cells.size > 0).at(-1);
  const pe = last && [...last.cells.keys()].sort((a, b) => a - b)[0];
  return last && pe !== undefined ? { key: last.key, pe } : null;
}

function drawDetail(): void {
  const row = selected && model.row(selected.key);
  const newest = model.rows.at(-1);
  const mark = JSON.stringify([selected, row?.version, typeof outputs === 'string' ? outputs : outputs !== null, asking, progress.going, newest?.key]);
  if (mark === drawn) {
    return;
  }
  drawn = mark;
  if (!row || !selected) {
    detail.replaceChildren();
    return;
  }
  const { pe } = selected;
  const name = row.case ?? `${words(row.title)} ${row.detail}`;
  const parts: (HTMLElement | false)[] = [
    h('h2', {}, `PE ${pe} · ${name}`),
    row.said.length > 0 && h('pre', {}, row.said.join('\n')),
    row.judged?.verdict === null && h('p', { class: 'muted' }, words(row.judged.why)),
    row.judged?.agrees === false && h('div', { class: 'error' }, texts.differs ?? ''),
    !row.judged?.document && row !== newest && !foreign() && overwritten(row.case, newest?.case ?? newest?.key ?? ''),
  ];
  if (row.judged?.document) {
    // Judged as the case ended: of this case, whatever wrote over its outputs since.
    parts.push(h('h2', {}, `${texts.ownOutputs ?? ''} · PE ${pe}`), ...details({ document: row.judged.document, ofRun: true }, pe, texts));
  } else if (progress.going) {
    parts.push(h('p', { class: 'muted' }, texts.afterRun ?? ''));
  } else if (typeof outputs === 'string') {
    parts.push(h('p', { class: 'muted' }, outputs));
  } else if (outputs === null) {
    parts.push(h('p', { class: 'muted', role: 'status' }, asking ? (texts.judging ?? '') : ''));
  } else {
    parts.push(h('h2', {}, `${texts.lastOutputs ?? ''} · PE ${pe}`), ...details(outputs, pe, texts));
  }
  detail.replaceChildren(...parts.filter((part) => part !== false));
}

/** Whether the outputs that are there are known to be none of this run's; that is said with them. */
function foreign(): boolean {
  return typeof outputs === 'object' && outputs?.ofRun === false;
}

/** Every case writes over the outputs of the one before: what is below is not this one's. */
function overwritten(name: string | null, newest: string): HTMLElement {
  const again = (): void => send({ type: 'command', command: 'opdev.runPhase', arguments: { phase: '4', cases: [name] } });
  return h(
    'div',
    { class: 'simulated' },
    (texts.overwritten ?? '').replace('{0}', newest.replace(/^case /, '')), ' ',
    name !== null && !progress.going && h('button', { class: 'second', onclick: again }, texts.runAlone ?? ''),
  );
}

/** What `opdev precision` says of the outputs that are there now. */
async function judge(): Promise<void> {
  asking += 1;
  const mine = asking;
  outputs = null;
  paint();
  let found: Answer | string;
  try {
    found = await ask<Answer>('opdev/precision', run === null ? {} : { run });
  } catch (problem) {
    found = (problem as Error).message;
  }
  if (mine === asking) {
    outputs = found;
    drawn = '';
    paint();
  }
}

/** The events of the run that is compared with. */
async function compared(): Promise<void> {
  const wanted = history.other;
  other = null;
  paint();
  const read = new Precision();
  if (wanted !== null) await replayed(wanted, (events) => read.take(events));
  if (wanted === history.other) {
    other = wanted === null ? null : read;
    paint();
  }
}

function drawComparison(): void {
  comparison.hidden = other === null;
  if (other === null) {
    comparison.replaceChildren();
    return;
  }
  const titles = [texts.case, ...['A', 'B'].map((one) => `${texts.result ?? ''} ${one}`), 'MaxAE A', 'MaxAE B', 'ΔMaxAE', 'MeanRE A', 'MeanRE B'];
  const columns = titles.map((text) => ({ text: text ?? '' }));
  comparison.replaceChildren(
    h('h2', {}, `A ${run ?? ''} · B ${history.other ?? ''}`),
    h(
      'table',
      { class: 'wide' },
      h('thead', {}, h('tr', {}, ...columns.map((column, index) => heading(column, index > 2)))),
      h('tbody', {}, ...labelled(compare(model, other).map(side), columns)),
    ),
  );
}

function side({ key, a, b, delta }: Compared): HTMLElement {
  const changed = a && b && a.verdict !== b.verdict;
  const shown = a ?? b;
  const result = (one: typeof a): HTMLElement => h('td', { class: one ? classOf(one.verdict) : 'muted' }, one ? resultOf(one.verdict, texts) : '–');
  const number = (value: number | string | null | undefined): HTMLElement => h('td', { class: 'number' }, error(value));
  return h(
    'tr',
    { class: changed ? 'changed' : '' },
    h('th', { scope: 'row' }, shown?.case ?? (shown ? `${words(shown.title)} ${shown.detail}` : key)),
    result(a), result(b),
    number(a && worst(a, 'MaxAE')), number(b && worst(b, 'MaxAE')),
    h('td', { class: 'number' }, delta === null ? '–' : `${delta > 0 ? '+' : ''}${error(delta)}`),
    number(a && worst(a, 'MeanRE')), number(b && worst(b, 'MeanRE')),
  );
}

function exports(): void {
  const backend = (): string => (progress.simulated ? 'sim' : 'npu');
  const name = (ending: string): string => `${operator}-precision-${run ?? ''}.${ending}`;
  const rows = (): unknown[] => model.rows.map((row) => ({ ...row, version: undefined, cells: [...row.cells.values()] }));
  history.exports([
    [texts.csv ?? '', () => save(name('csv'), toCsv(model, run ?? '', backend()))],
    [
      texts.json ?? '',
      () => {
        const outputsNow = typeof outputs === 'string' ? null : outputs;
        save(name('json'), `${JSON.stringify({ operator, run, backend: backend(), rows: rows(), outputs: outputsNow }, null, 1)}\n`);
      },
    ],
  ]);
}

hear((message: ToPage) => {
  if (message.type === 'reset') {
    ({ texts, run, operator } = message);
    model = new Precision();
    progress = new Progress();
    progress.simulated = message.simulated;
    [selected, chosen, outputs, other, drawn] = [null, false, null, null, ''];
    asking += 1;
    table.clear();
    detail.setAttribute('aria-label', texts.details ?? '');
    history.show(message.target, run, texts);
    exports();
    remember(message.target);
  } else if (message.type === 'events') {
    const before = progress.state;
    progress.take(message.events, message.state);
    model.take(message.events);
    if (before !== progress.state && !progress.going) {
      history.refresh();
      void judge();
    }
  } else if (message.type === 'data') {
    answered(message);
    return;
  }
  paint();
});
