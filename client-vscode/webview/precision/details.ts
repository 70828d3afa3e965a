// What is known of one PE's last output: why it is wrong where, and what may be behind it.
import { h } from '../shared/dom';
import { error } from '../shared/numbers';
import { words } from '../shared/run';
import { heading, labelled } from '../shared/table';
import { heat, histogram } from './charts';
import type { Answer, Hypothesis, Result } from './document';

type Texts = Record<string, string>;

/** All that `opdev precision` says of one PE. */
export function details(answer: Answer, pe: number, texts: Texts): HTMLElement[] {
  const { document: report } = answer;
  // An operator may write several results on a PE; those that do not pass come first.
  const results = report.results.filter((one) => one.pe === pe).sort((a, b) => Number(a.verdict === 'pass') - Number(b.verdict === 'pass'));
  const notes = report.notes.map((note) => h('div', { class: 'muted' }, words(note)));
  const stale = answer.ofRun === false && h('div', { class: 'simulated' }, texts.otherRun ?? '');
  const all = hypotheses(report.hypotheses, texts.hypothesisAll ?? '', texts);
  if (!results.length) {
    return [h('div', {}, stale, ...notes), h('p', { class: 'muted' }, (texts.noPe ?? '').replace('{0}', String(pe))), ...all];
  }
  return [
    h('div', {}, stale, ...notes),
    ...all,
    ...results.flatMap((result) => [
      ...(results.length > 1 ? [h('h3', {}, result.name)] : []),
      verdict(result, texts),
      ...hypotheses(result.hypotheses, texts.hypothesis ?? '', texts),
      h('div', { class: 'pair' }, ...histograms(result, texts), ...map(result, texts)),
      ...mismatches(result, texts),
    ]),
  ];
}

function verdict(result: Result, texts: Texts): HTMLElement {
  const { metrics: m, limits } = result;
  const word = { pass: `✓ ${texts.pass ?? ''}`, fail: `✗ ${texts.fail ?? ''}`, error: `✗ ${texts.unjudged ?? ''}` }[result.verdict];
  const numbers: [string, string][] = m
    ? [
        [texts.within ?? '', `${m.within} / ${m.elements}`], ['MaxAE', error(m.max_abs)], ['MaxRE', error(m.max_rel)],
        ['MeanRE', error(m.mean_rel)], ['RMSE', error(m.rmse)], ['EB', error(m.eb)],
        ...(m.nan_output ? [['NaN', String(m.nan_output)] as [string, string]] : []),
        ...(m.inf_output ? [['Inf', String(m.inf_output)] as [string, string]] : []),
      ]
    : [];
  return h(
    'div',
    { class: 'verdict' },
    h('div', {}, h('b', { class: result.verdict === 'pass' ? 'pass' : 'fail' }, word), ' ', [result.dtype, result.shape?.join('×')].filter(Boolean).join(' ')),
    ...result.reasons.map((reason) => h('div', { class: 'error' }, words(reason.text))),
    ...result.notes.map((note) => h('div', { class: 'muted' }, words(note))),
    limits && h('div', { class: 'muted' }, words(limits.source)),
    numbers.length > 0 && h('dl', {}, ...numbers.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
  );
}

function hypotheses(found: readonly Hypothesis[], title: string, texts: Texts): HTMLElement[] {
  if (!found.length) {
    return [];
  }
  const rows = found.map((one) =>
    h(
      'li',
      {},
      h('b', {}, words(one.text)), ' ', h('span', { class: 'badge' }, (one.confidence === 'strong' ? texts.strong : texts.weak) ?? ''),
      h('div', {}, `${texts.evidence ?? ''}: `, words(one.evidence)),
    ),
  );
  return [h('section', { class: 'hypotheses' }, h('h3', {}, title), h('ul', {}, ...rows))];
}

function histograms(result: Result, texts: Texts): HTMLElement[] {
  return result.histograms.map((one) =>
    h('section', {}, h('h3', {}, `${texts.histogram ?? ''} · ${(one.kind === 'absolute' ? texts.absolute : texts.relative) ?? ''}`), histogram(one, texts)),
  );
}

function map(result: Result, texts: Texts): HTMLElement[] {
  // An exact output has no errors to map.
  if (!result.heat || (!result.mismatch_count && result.metrics?.max_abs === 0)) {
    return [];
  }
  const tiles = result.worst_tiles.map((tile) =>
    h('tr', {}, ...[tile.rows, tile.columns].map((range) => h('td', { class: 'number' }, `${range[0]}–${range[1] - 1}`)),
      h('td', { class: 'number' }, `${tile.mismatches} / ${tile.elements}`), h('td', { class: 'number' }, error(tile.worst))),
  );
  const table = h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ...[texts.rows, texts.columns, texts.out, 'MaxAE'].map((name) => h('th', { class: 'number', scope: 'col' }, name ?? '')))),
    h('tbody', {}, ...tiles),
  );
  const label = `${texts.heat ?? ''}: ${result.worst_tiles.length} ${texts.worstTiles ?? ''}`;
  return [
    h('section', {}, h('h3', {}, texts.heat ?? ''), heat(result.heat, label, texts)),
    ...(tiles.length ? [h('section', {}, h('h3', {}, texts.worstTiles ?? ''), table)] : []),
  ];
}

function mismatches(result: Result, texts: Texts): HTMLElement[] {
  if (!result.mismatches.length) {
    return [];
  }
  const columns = [texts.index, texts.coordinates, texts.actual, texts.expected, texts.difference, texts.allowed].map((text) => ({ text: text ?? '' }));
  const rows = result.mismatches.map((one) =>
    h('tr', {}, ...[one.index, `[${one.coordinates.join(', ')}]`, one.actual, one.expected, error(one.difference), error(one.allowed)]
      .map((cell) => h('td', { class: 'number' }, String(cell)))),
  );
  const title = `${texts.mismatches ?? ''} (${result.mismatches.length} / ${result.mismatch_count})`;
  return [
    h('section', {}, h('h3', {}, title), h('table', { class: 'mismatches wide' },
      h('thead', {}, h('tr', {}, ...columns.map((column) => heading(column, true)))), h('tbody', {}, ...labelled(rows, columns)))),
  ];
}
