// What the performance panel shows: measurements as they come, then the document the command line has of them.
import type { RunEvent } from '../../src/protocol';
import type { Backend, Comparison, Group, Metric, PerfDocument, Round, Spread } from './document';
import { BUS, METRICS } from './document';

const TIMES: readonly Metric[] = ['e2e_us', 'kernel_us'];

export interface Shown extends Group {
  /** Still being measured: nobody has checked these lines. */
  live: boolean;
  comparison: Comparison | null;
  /** What it is compared with. */
  baseline: Group | null;
}

interface Task {
  key: string;
  backend: Backend;
  side: Group['side'];
  asked: { n_pes?: number; count?: number; dtype?: string };
  payload: number;
  /** For each PE its launches, in order. */
  pes: Map<number, Record<string, number>[]>;
}

export class Performance {
  document: PerfDocument | null = null;
  rounds: Round[] = [];
  private readonly asked = new Map<string, Task['asked']>();
  private tasks = new Map<string, Task>();
  /** Whether the run measured anything. */
  measured = false;
  /** Whether the document is of everything that was ever measured, for want of anything of this run. */
  everything = false;
  /** Whether something of the run is not in the document yet. */
  get pending(): boolean {
    return this.tasks.size > 0;
  }

  take(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'step-started' && typeof event.task === 'string') {
        this.asked.set(event.task, event.measures ?? {});
      } else if (event.type === 'perf' && typeof event.task === 'string') {
        this.line(event, event.task);
      } else if (event.type === 'perf-summary') {
        this.settle(event.document as PerfDocument);
      }
    }
  }

  /** The document of what this run measured up to now, or of everything there is. */
  settle(document: PerfDocument, everything = false): void {
    this.document = document;
    this.everything = everything;
    this.tasks = new Map();
  }

  private line(event: RunEvent, task: string): void {
    this.measured = true;
    if (this.everything) {
      this.document = null;
      this.everything = false;
    }
    const values = event.values as Record<string, number>;
    const payload = values.payload_bytes ?? 0;
    const side = event.baseline === true ? 'baseline' : 'shmem';
    const key = `${task} ${side} ${payload.toPrecision(5)}`;
    let one = this.tasks.get(key);
    if (!one) {
      const backend = event.backend === 'sim' ? 'sim' : 'hardware';
      one = { key, backend, side, asked: this.asked.get(task) ?? {}, payload, pes: new Map() };
      this.tasks.set(key, one);
    }
    const pe = Number(event.pe);
    const launches = one.pes.get(pe) ?? [];
    one.pes.set(pe, launches);
    launches.push(values);
  }

  /** What can be shown, SHMEM first; of the document only what can be believed, as the command line has it. */
  get groups(): Shown[] {
    const all = this.document?.groups ?? [];
    const comparisons = new Map(this.document?.comparisons.map((one) => [one.group, one]));
    const known = all
      .map((group, index) => {
        const comparison = comparisons.get(index) ?? null;
        return { ...group, live: false, comparison, baseline: all[comparison?.baseline ?? -1] ?? null };
      })
      .filter((group) => group.used > 0);
    return [...known, ...[...this.tasks.values()].map(live)];
  }
}

/** A launch is one line of each PE; it lasts as long as its slowest PE, and has the mean of their bandwidths. */
function live(task: Task): Shown {
  const wanted = task.asked.n_pes ?? task.pes.size;
  const whole = task.pes.size < wanted ? 0 : Math.min(...[...task.pes.values()].map((launches) => launches.length));
  const every = Math.max(...[...task.pes.values()].map((launches) => launches.length));
  const metrics = Object.fromEntries(METRICS.map((name) => [name, spread(samples(task, name, whole), TIMES.includes(name))]));
  return {
    side: task.side, backend: task.backend, tier: '', case: '', n_pes: wanted, dtype: task.asked.dtype ?? '', count: task.asked.count ?? null,
    api: '', payload_bytes: task.payload, peak_bandwidth_GBps: null, launches: every, used: whole,
    metrics: metrics as Group['metrics'], live: true, comparison: null, baseline: null,
  };
}

function samples(task: Task, name: Metric, count: number): number[] {
  const found: number[] = [];
  for (let launch = 0; launch < count; launch += 1) {
    const values = [...task.pes.values()].map((launches) => launches[launch]?.[name]).filter((value) => value !== undefined);
    if (values.length === task.pes.size) {
      found.push(TIMES.includes(name) ? Math.max(...values) : values.reduce((a, b) => a + b, 0) / values.length);
    }
  }
  return found;
}

/** Of an even number of launches the slower one of the middle two is the median, as in the document. */
function spread(values: number[], slowerIsHigher: boolean): Spread | null {
  const sorted = values.sort((a, b) => a - b);
  const median = sorted[slowerIsHigher ? Math.floor(sorted.length / 2) : Math.floor((sorted.length - 1) / 2)];
  const cut = Math.floor(sorted.length / 10);
  const [low, high] = [sorted[cut], sorted.at(-1 - cut)];
  if (median === undefined || low === undefined || high === undefined) {
    return null;
  }
  return { median, low, high, spread_pct: sorted.length > 1 && median > 0 ? ((high - low) / median) * 100 : null };
}

export interface Line {
  label: string;
  kind: 'measured' | 'baseline' | 'target';
  backend: Backend;
  /** Points by message size. */
  points: Map<number, number>;
}

/** The lines of a chart of one metric over message size, of one backend: simulated figures never stand beside others. */
export function lines(groups: readonly Shown[], metric: Metric, backend: Backend): Line[] {
  const found = new Map<string, Line>();
  const add = (label: string, kind: Line['kind'], size: number, value: number | null | undefined): void => {
    if (value !== null && value !== undefined && size > 0) {
      const line = found.get(`${kind} ${label}`) ?? { label, kind, backend, points: new Map<number, number>() };
      found.set(`${kind} ${label}`, line);
      line.points.set(size, value);
    }
  };
  for (const group of groups.filter((one) => one.backend === backend)) {
    const scope = [group.n_pes ? `${group.n_pes} PE` : '', group.dtype].filter(Boolean).join(' ');
    const label = group.side === 'baseline' ? `${group.api || 'baseline'} ${scope}` : scope;
    add(label, group.side === 'baseline' ? 'baseline' : 'measured', group.payload_bytes, group.metrics[metric]?.median);
    add(scope, 'target', group.payload_bytes, metric === BUS ? target(group) : null);
  }
  return [...found.values()];
}

/** The bandwidth that is asked for: so much of the baseline, or of the peak where there is none. Hardware only. */
export function target(group: Shown): number | null {
  const asked = group.comparison;
  if (group.backend !== 'hardware' || group.live || !asked || asked.verdict === 'simulated') {
    return null;
  }
  if (asked.by === 'peak') {
    return group.peak_bandwidth_GBps === null ? null : (group.peak_bandwidth_GBps * asked.line_pct) / 100;
  }
  const base = asked.by === 'baseline' && asked.verdict !== 'incomparable' ? group.baseline?.metrics[BUS]?.median : undefined;
  return base === undefined ? null : (base * asked.line_pct) / 100;
}
