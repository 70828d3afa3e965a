// Bandwidth, latency, rounds and comparison as tables, with the columns and the digits of the command line.
import { h } from '../shared/dom';
import { bytes, shown, signed } from '../shared/numbers';
import { words } from '../shared/run';
import type { Column } from '../shared/table';
import { breakable, heading, labelled } from '../shared/table';
import type { Backend, CompareRow, Metric, PerfDocument, Round } from './document';
import { BUS } from './document';
import type { Shown } from './model';
import { target } from './model';

type Texts = Record<string, string>;
type Cell = HTMLElement;

const text = (value: string, look = ''): Cell => h('td', { class: look }, value);
const number = (value: string): Cell => h('td', { class: 'number' }, value);

function table(name: string, backend: Backend | '', title: string, columns: readonly Column[], rows: HTMLElement[], words_: number, texts: Texts): HTMLElement {
  return h(
    'section',
    {},
    h('h3', {}, title, backend === 'sim' && h('span', { class: 'mark' }, texts.simTable ?? '')),
    h(
      'table',
      { class: 'wide', 'data-table': name, 'data-backend': backend },
      h('thead', {}, h('tr', {}, ...columns.map((column, index) => heading(column, index >= words_)))),
      h('tbody', {}, ...labelled(rows, columns)),
    ),
  );
}

const plain = (text: string | undefined): Column => ({ text: text ?? '' });
/** Figures have the names of the command line for a title, and words with a unit for a heading. */
function measured(field: Metric, texts: Texts): Column {
  switch (field) {
    case BUS:
      return { text: texts.kernelBus ?? '', unit: 'GB/s', field };
    case 'algo_bandwidth_GBps':
      return { text: texts.algorithm ?? '', unit: 'GB/s', field };
    case 'e2e_bus_bandwidth_GBps':
      return { text: texts.e2eBus ?? '', unit: 'GB/s', field };
    case 'bandwidth_utilization_pct':
      return { text: texts.utilisation ?? '', unit: '%', field };
    case 'e2e_us':
      return { text: texts.e2e ?? '', unit: 'µs', field };
    case 'kernel_us':
      return { text: 'kernel', unit: 'µs', field };
  }
}
/** What every row is of. */
const places = (texts: Texts): Column[] => [
  plain(texts.scale), { text: texts.case ?? '', field: 'case_id' }, { text: 'PE', field: 'n_pes' }, { text: texts.size ?? '', field: 'payload_bytes' },
];

const median = (group: Shown, name: Metric): string => shown(group.metrics[name]?.median);
const spread = (group: Shown, name: Metric): string => {
  const found = group.metrics[name]?.spread_pct;
  return found === null || found === undefined ? '–' : found.toFixed(1);
};

/** What a row is of: scale, case, PEs, message size. */
function named(group: Shown, texts: Texts): Cell[] {
  const label = [group.case || [group.count, group.dtype].filter(Boolean).join(' '), group.side === 'baseline' && `(${group.api || (texts.baseline ?? '')})`];
  return [
    text(group.tier || '–'),
    h('th', { scope: 'row' }, ...breakable(label.filter(Boolean).join(' ')), group.live && h('span', { class: 'mark' }, texts.live ?? '')),
    number(String(group.n_pes ?? '–')),
    number(bytes(group.payload_bytes)),
  ];
}

export function bandwidth(groups: readonly Shown[], backend: Backend, texts: Texts): HTMLElement {
  const real = backend === 'hardware';
  const columns: Column[] = [
    ...places(texts), measured(BUS, texts), ...(real ? [{ text: texts.target ?? '', unit: 'GB/s' }, plain(texts.verdict)] : []),
    measured('bandwidth_utilization_pct', texts), measured('algo_bandwidth_GBps', texts), measured('e2e_bus_bandwidth_GBps', texts),
    { text: texts.spread ?? '', unit: '%' },
  ];
  const rows = groups.map((group) =>
    h(
      'tr',
      { 'data-case': group.case },
      ...named(group, texts), number(median(group, BUS)), ...(real ? [number(shown(target(group))), verdict(group, texts)] : []),
      utilisation(group), number(median(group, 'algo_bandwidth_GBps')), number(median(group, 'e2e_bus_bandwidth_GBps')),
      number(spread(group, BUS)),
    ),
  );
  return table('bandwidth', backend, texts.bandwidth ?? '', columns, rows, 2, texts);
}

/** As a bar only where there is a link to be used. */
function utilisation(group: Shown): Cell {
  const value = group.metrics.bandwidth_utilization_pct?.median;
  const bar = value !== undefined && group.backend === 'hardware' && h('meter', { min: 0, max: 100, value, 'aria-hidden': true });
  return h('td', { class: 'number' }, bar, ' ', shown(value));
}

function verdict(group: Shown, texts: Texts): Cell {
  const found = group.comparison;
  if (!found) {
    return number('–');
  }
  const of = found.by === 'baseline' ? texts.ofBaseline : texts.ofPeak;
  const value = found.value_pct === null ? '' : ` ${shown(found.value_pct)} % ${of ?? ''}`;
  return h('td', { class: `number ${found.verdict}`, title: words(found.why) }, `${texts[found.verdict] ?? found.verdict}${value}`);
}

export function latency(groups: readonly Shown[], backend: Backend, texts: Texts): HTMLElement {
  const columns: Column[] = [
    ...places(texts), measured('e2e_us', texts), measured('kernel_us', texts), plain(texts.repeats), { text: texts.spread ?? '', unit: '%' },
  ];
  const rows = groups.map((group) =>
    h(
      'tr',
      { 'data-case': group.case },
      ...named(group, texts), number(median(group, 'e2e_us')), number(median(group, 'kernel_us')),
      number(group.live && group.used < group.launches ? `${group.used} / ${group.launches}` : String(group.used)), number(spread(group, 'kernel_us')),
    ),
  );
  return table('latency', backend, texts.latency ?? '', columns, rows, 2, texts);
}

export function rounds(found: readonly Round[], texts: Texts): HTMLElement | null {
  if (!found.some((one) => one.round > 0)) {
    return null;
  }
  const correct = { pass: texts.correct, fail: texts.wrong, none: texts.untested };
  const columns: Column[] = [
    ...[texts.round, texts.idea, texts.state, texts.correctness].map(plain), measured(BUS, texts), measured('e2e_us', texts),
    ...[texts.vsFirst, texts.vsKept, texts.vsBaseline, texts.files].map(plain),
  ];
  const rows = found.map((one) => {
    const simulated = one.measured?.simulated ? ` (${texts.simulatedShort ?? ''})` : '';
    const figure = (name: string): string => {
      const value = one.measured?.figures[name];
      return value === undefined ? '–' : `${shown(value)}${simulated}`;
    };
    return h(
      'tr',
      { 'data-round': one.round },
      h('th', { scope: 'row' }, String(one.round)), h('td', { title: one.reason }, one.idea || '–'), text(texts[one.state] ?? one.state),
      text(correct[one.correctness] ?? '', one.correctness), number(figure(BUS)), number(figure('e2e_us')),
      number(signed(one.vs_round0_pct)), number(signed(one.vs_kept_pct)),
      number(one.baseline_ratio_pct === null ? '–' : `${shown(one.baseline_ratio_pct)} %`),
      h('td', { class: 'number', title: one.changed.map((file) => file.path).join('\n') }, String(one.changed.length)),
    );
  });
  return table('rounds', '', texts.rounds ?? '', columns, rows, 4, texts);
}

/** A against B, as `opdev perf compare` has it. */
export function comparison(found: readonly CompareRow[], a: string, b: string, texts: Texts): HTMLElement {
  const rows = found.flatMap((row) =>
    Object.entries(row.figures).map(([name, figure], index) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, index ? '' : [row.n_pes && `${row.n_pes} PE`, row.dtype, bytes(row.payload_bytes)].filter(Boolean).join(' ')),
        h('td', {}, ...breakable(name)), number(shown(figure.a)), number(shown(figure.b)),
        number(figure.ratio_pct === null ? '–' : `${figure.ratio_pct.toFixed(1)} %`),
        name === BUS ? h('td', { class: row.verdict }, `${texts[row.verdict] ?? row.verdict}: ${words(row.why)}`) : text(''),
      ),
    ),
  );
  const columns = [texts.size, texts.metric, 'A', 'B', 'A/B', texts.verdict].map(plain);
  const made = table('comparison', found[0]?.backend ?? '', `A ${a} · B ${b}`, columns, rows, 2, texts);
  made.querySelector('th:last-child')?.classList.remove('number');
  return made;
}

/** What was not measured, and lines that cannot be believed. */
export function notes(document: PerfDocument, texts: Texts): HTMLElement[] {
  const lacking = document.lacking.map((one) => h('div', { class: 'muted' }, words(one)));
  if (!document.problems.length) {
    return lacking;
  }
  const items = document.problems.map((one) => h('li', { class: one.severity }, `${one.log}:${one.line}: `, words(one.text)));
  return [...lacking, h('section', {}, h('h3', {}, `${texts.problems ?? ''} (${document.problem_count})`), h('ul', {}, ...items))];
}
