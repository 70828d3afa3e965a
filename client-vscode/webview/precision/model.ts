// What the precision panel shows of a run: a row for each case, in it a cell for each PE, as checkers and runners tell of them.
import type { RunEvent } from '../../src/protocol';
import { csvLine } from '../shared/numbers';
import type { Report } from './document';

export type Verdict = 'PASS' | 'FAIL' | null;

export interface Cell {
  pe: number;
  verdict: Verdict;
  dtype: string;
  values: Record<string, number>;
  /** What the precision engine says of this PE's outputs; null where it says nothing. */
  engine: Report['verdict'] | null;
}

/** What the precision engine made of a case as it ended: its document, or why there is none. */
export interface Judged {
  verdict: Report['verdict'] | null;
  agrees: boolean | null;
  document: Report | null;
  why: unknown;
}

export interface Row {
  /** The same thing has the same key in every run. */
  key: string;
  task: string;
  case: string | null;
  /** Where it is no case: the step's title and what it was run for. */
  title: unknown;
  detail: string;
  verdict: string | null;
  cells: Map<number, Cell>;
  /** What the runner's own line says: for runners that keep the checker's output to themselves. */
  values: Record<string, string>;
  /** What checkers said in words: the first mismatch, a wrong shape. */
  said: string[];
  judged: Judged | null;
  /** Counts changes, for whoever draws it. */
  version: number;
}

interface Step {
  title: unknown;
  detail: string;
  open: Row | null;
}

export const METRICS = ['MaxAE', 'MaxRE', 'MeanRE'] as const;
export type Metric = (typeof METRICS)[number];
const MOST_ROWS = 5_000;
const MOST_SAID = 5;

export class Precision {
  rows: Row[] = [];
  private readonly steps = new Map<string, Step>();

  take(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (typeof event.task !== 'string') {
        continue;
      }
      if (event.type === 'step-started') {
        this.began(event, event.task);
      } else if (event.type === 'check') {
        this.checked(event, event.task);
      } else if (event.type === 'case') {
        this.ended(event, event.task);
      } else if (event.type === 'case-precision') {
        this.judged(event);
      } else if (event.type === 'step-ended') {
        this.stepEnded(event, event.task);
      }
    }
  }

  /** PEs of any row, in order. */
  get pes(): number[] {
    return [...new Set(this.rows.flatMap((row) => [...row.cells.keys()]))].sort((a, b) => a - b);
  }

  row(key: string): Row | undefined {
    return this.rows.find((row) => row.key === key);
  }

  private step(task: string): Step {
    const there = this.steps.get(task) ?? { title: task, detail: '', open: null };
    this.steps.set(task, there);
    return there;
  }

  private began(event: RunEvent, task: string): void {
    const asked = (event.measures ?? {}) as { n_pes?: number; count?: number; dtype?: string };
    const detail = [asked.n_pes && `${asked.n_pes} PE`, asked.count, asked.dtype].filter(Boolean).join(' ');
    // A step that is tried again: what counts is how it ends.
    this.rows = this.rows.filter((row) => row.task !== task);
    this.steps.set(task, { title: event.title, detail, open: null });
  }

  private open(task: string): Row {
    const step = this.step(task);
    if (!step.open) {
      const key = `${task.replace(/^\d+-/, '')} ${step.detail}`.trim();
      step.open = {
        key: this.unlike(key), task, case: null, title: step.title, detail: step.detail, verdict: null, cells: new Map(),
        values: {}, said: [], judged: null, version: 0,
      };
      if (this.rows.length < MOST_ROWS) {
        this.rows.push(step.open);
      }
    }
    return step.open;
  }

  private unlike(key: string): string {
    let made = key;
    for (let number = 2; this.rows.some((row) => row.key === made); number += 1) {
      made = `${key} #${number}`;
    }
    return made;
  }

  private checked(event: RunEvent, task: string): void {
    const row = this.open(task);
    row.version += 1;
    const verdict = event.verdict as Verdict;
    if (typeof event.text === 'string' && event.text && row.said.length < MOST_SAID) {
      row.said.push(event.text);
    }
    if (typeof event.pe !== 'number') {
      row.verdict = worse(row.verdict, verdict);
      return;
    }
    const cell = row.cells.get(event.pe) ?? { pe: event.pe, verdict: null, dtype: '', values: {}, engine: null };
    row.cells.set(event.pe, cell);
    cell.verdict = worse(cell.verdict, verdict) as Verdict;
    cell.dtype = typeof event.dtype === 'string' && event.dtype ? event.dtype : cell.dtype;
    const values = (event.values ?? {}) as Record<string, number>;
    for (const [name, value] of Object.entries(values)) {
      // Checked more than once within a case: the worst counts.
      const before = cell.values[name];
      cell.values[name] = before === undefined ? value : Math.max(before, value);
    }
  }

  private ended(event: RunEvent, task: string): void {
    const row = this.open(task);
    const name = String(event.case);
    const key = `case ${name}`;
    this.rows = this.rows.filter((other) => other === row || other.key !== key);
    row.key = key;
    row.case = name;
    row.verdict = typeof event.verdict === 'string' ? event.verdict : row.verdict;
    row.values = (event.values ?? {}) as Record<string, string>;
    row.version += 1;
    this.step(task).open = null;
  }

  /** The engine's word on a case; its figures where the checker printed none. */
  private judged(event: RunEvent): void {
    const row = this.row(`case ${String(event.case)}`);
    if (!row) {
      return;
    }
    const document = (event.document ?? null) as Report | null;
    row.judged = {
      verdict: document?.verdict ?? null, agrees: typeof event.agrees === 'boolean' ? event.agrees : null, document, why: event.why,
    };
    row.version += 1;
    for (const result of document?.results ?? []) {
      if (result.pe === null) {
        continue;
      }
      const cell: Cell = row.cells.get(result.pe) ?? { pe: result.pe, verdict: null, dtype: result.dtype ?? '', values: {}, engine: null };
      row.cells.set(result.pe, cell);
      // Several outputs of a PE: one that is wrong counts.
      cell.engine = cell.engine === null || cell.engine === 'pass' ? result.verdict : cell.engine;
      const found = { MaxAE: result.metrics?.max_abs, MaxRE: result.metrics?.max_rel, MeanRE: result.metrics?.mean_rel };
      for (const [name, value] of Object.entries(found)) {
        if (typeof value === 'number' && cell.values[name] === undefined) {
          cell.values[name] = value;
        }
      }
    }
  }

  private stepEnded(event: RunEvent, task: string): void {
    const step = this.steps.get(task);
    if (step?.open) {
      step.open.verdict ??= event.result === 'pass' ? 'PASS' : 'FAIL';
      step.open.version += 1;
      step.open = null;
    }
  }
}

/** FAIL stays FAIL. */
function worse(before: string | null, now: Verdict): string | null {
  return before === 'FAIL' || now === null ? before : now;
}

/** The worst of a row's PEs, else what the runner's line says; a word where that is no number (nan). */
export function worst(row: Row, metric: Metric): number | string | null {
  const found = [...row.cells.values()].map((cell) => cell.values[metric]).filter((value) => value !== undefined);
  if (found.length) {
    return Math.max(...found);
  }
  const text = Object.entries(row.values).find(([name]) => name.toLowerCase().replaceAll('_', '') === metric.toLowerCase())?.[1];
  return text === undefined ? null : text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

export function dtypeOf(row: Row): string {
  return [...new Set([...row.cells.values()].map((cell) => cell.dtype).filter(Boolean))].join(', ') || (row.values.dtype ?? '');
}

export interface Compared {
  key: string;
  a: Row | undefined;
  b: Row | undefined;
  /** MaxAE of A less that of B; null where one of them has none. */
  delta: number | null;
}

/** Run A against run B: everything that either of them checked. */
export function compare(a: Precision, b: Precision): Compared[] {
  const keys = [...new Set([...a.rows, ...b.rows].map((row) => row.key))];
  return keys.map((key) => {
    const [one, other] = [a.row(key), b.row(key)];
    const [x, y] = [one && worst(one, 'MaxAE'), other && worst(other, 'MaxAE')];
    return { key, a: one, b: other, delta: typeof x === 'number' && typeof y === 'number' ? x - y : null };
  });
}

/** A line for each PE of each case; one for the case where no PE is known. */
export function toCsv(model: Precision, run: string, backend: string): string {
  const lines = [csvLine(['run', 'backend', 'case', 'pe', 'verdict', 'dtype', ...METRICS, 'rtol', 'atol', 'engine'])];
  for (const row of model.rows) {
    const cells = [...row.cells.values()].sort((a, b) => a.pe - b.pe);
    for (const cell of cells) {
      const values = METRICS.map((name) => cell.values[name]);
      lines.push(csvLine([run, backend, row.case ?? row.key, cell.pe, cell.verdict, cell.dtype, ...values, cell.values.rtol, cell.values.atol, cell.engine]));
    }
    if (!cells.length) {
      const values = METRICS.map((name) => worst(row, name));
      lines.push(csvLine([run, backend, row.case ?? row.key, '', row.verdict, dtypeOf(row), ...values, row.values.rtol, row.values.atol, row.judged?.verdict]));
    }
  }
  return `${lines.join('\n')}\n`;
}
