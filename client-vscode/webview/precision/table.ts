// The table of cases and PEs; only rows that changed are drawn anew, so that focus stays and a flood is no burden.
import { h } from '../shared/dom';
import { error } from '../shared/numbers';
import { words } from '../shared/run';
import type { Column } from '../shared/table';
import { breakable, heading, labelled } from '../shared/table';
import type { Cell, Row } from './model';
import { METRICS, dtypeOf, worst } from './model';

export interface Selected {
  key: string;
  pe: number;
}

/** PEs with a column of their own; one table row is no place for a thousand. */
const MOST_PES = 64;

type Texts = Record<string, string>;

export const resultOf = (verdict: string | null, texts: Texts): string =>
  verdict === null ? '…' : verdict === 'PASS' ? `✓ ${texts.pass ?? ''}` : verdict === 'FAIL' ? `✗ ${texts.fail ?? ''}` : verdict;
export const classOf = (verdict: string | null): string => (verdict === null ? 'open' : verdict === 'PASS' ? 'pass' : 'fail');

/** Wrong is what either of checker and engine calls wrong. */
export const worstOf = (cell: Cell): string | null =>
  cell.engine === 'fail' || cell.engine === 'error' ? 'FAIL' : (cell.verdict ?? (cell.engine === 'pass' ? 'PASS' : null));

/** What the engine says of a case; where it says nothing, why. */
function engine(row: Row, texts: Texts): HTMLElement {
  const { judged } = row;
  if (!judged) {
    return h('td', { class: 'muted' }, '–');
  }
  if (judged.verdict === null) {
    return h('td', { class: 'muted', title: words(judged.why) }, texts.unjudged ?? '');
  }
  const verdict = judged.verdict === 'pass' ? 'PASS' : 'FAIL';
  return h('td', { class: classOf(verdict), title: judged.agrees === false ? (texts.differs ?? '') : '' },
    `${resultOf(verdict, texts)}${judged.agrees === false ? ' ≠' : ''}`);
}

export class Table {
  private readonly head = h('thead');
  private readonly body = h('tbody');
  private readonly caption = h('caption', { class: 'hidden' });
  readonly element = h('div', { class: 'cases' }, h('table', { class: 'wide' }, this.caption, this.head, this.body));
  private readonly drawn = new Map<string, { element: HTMLElement; mark: string }>();
  private columns = '';
  private names: Column[] = [];

  constructor(private readonly select: (selected: Selected) => void) {}

  clear(): void {
    this.drawn.clear();
    this.columns = '';
    this.body.replaceChildren();
    this.head.replaceChildren();
  }

  draw(rows: readonly Row[], every: readonly number[], selected: Selected | null, texts: Texts): void {
    const pes = every.slice(0, MOST_PES);
    this.caption.textContent = texts.table ?? '';
    const columns = pes.join();
    if (columns !== this.columns || !this.head.firstChild) {
      this.columns = columns;
      this.drawn.clear();
      this.names = [texts.case, texts.result, texts.engine, 'dtype', ...METRICS, ...pes.map((pe) => `PE ${pe}`)].map((text) => ({ text: text ?? '' }));
      const first = this.names.length - pes.length - METRICS.length;
      this.head.replaceChildren(h('tr', {}, ...this.names.map((name, at) => heading(name, at >= first && at < first + METRICS.length))));
    }
    const elements = rows.map((row) => {
      const chosen = selected?.key === row.key ? selected.pe : null;
      const mark = `${row.version} ${row.key} ${chosen}`;
      const there = this.drawn.get(row.key);
      if (there?.mark === mark) {
        return there.element;
      }
      const element = this.row(row, pes, chosen, texts);
      labelled([element], this.names);
      if (there?.element.contains(document.activeElement)) {
        const label = document.activeElement?.getAttribute('data-pe');
        queueMicrotask(() => element.querySelector<HTMLElement>(`[data-pe="${label}"]`)?.focus());
      }
      this.drawn.set(row.key, { element, mark });
      return element;
    });
    const same = elements.length === this.body.children.length && elements.every((element, index) => this.body.children[index] === element);
    if (!same) {
      this.body.replaceChildren(...elements);
    }
  }

  private row(row: Row, pes: readonly number[], chosen: number | null, texts: Texts): HTMLElement {
    const name = row.case ?? (row.verdict === null && !row.detail ? `${words(row.title)} …` : `${words(row.title)} ${row.detail}`.trim());
    const numbers = METRICS.map((metric) => h('td', { class: 'number' }, error(worst(row, metric))));
    return h(
      'tr',
      { 'data-case': row.case ?? row.key },
      h('th', { scope: 'row', title: name }, ...breakable(name)),
      h('td', { class: classOf(row.verdict) }, resultOf(row.verdict, texts)),
      engine(row, texts),
      h('td', {}, dtypeOf(row)),
      ...numbers,
      ...pes.map((pe) => this.cell(row, row.cells.get(pe), pe, name, chosen, texts)),
    );
  }

  private cell(row: Row, cell: Cell | undefined, pe: number, name: string, chosen: number | null, texts: Texts): HTMLElement {
    if (!cell) {
      return h('td', {});
    }
    const numbers = METRICS.map((metric) => `${metric} ${error(cell.values[metric])}`);
    const verdict = worstOf(cell);
    const said = [`PE ${pe}`, name, resultOf(verdict, texts).replace(/^[✓✗] /, ''), ...numbers, cell.dtype].join(', ');
    const mark = verdict === 'PASS' ? '✓' : verdict === 'FAIL' ? '✗' : '…';
    return h(
      'td',
      {},
      h(
        'button',
        {
          class: `pe ${classOf(verdict)}`, 'aria-label': said, title: said, 'aria-pressed': chosen === pe ? 'true' : 'false', 'data-pe': pe,
          onclick: () => this.select({ key: row.key, pe }),
        },
        `${mark} ${error(cell.values.MaxAE)}`,
      ),
    );
  }
}
