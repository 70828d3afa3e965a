// The documents of `opdev perf` and `opdev rounds`, as far as the panel draws them; their schemas are the commands'.
import type { Text } from '../shared/text';

export const BUS = 'kernel_bus_bandwidth_GBps';
export const METRICS = [
  BUS, 'algo_bandwidth_GBps', 'e2e_bus_bandwidth_GBps', 'bandwidth_utilization_pct', 'e2e_us', 'kernel_us',
] as const;
export type Metric = (typeof METRICS)[number];
export type Backend = 'hardware' | 'sim';

export interface Spread {
  median: number;
  low: number;
  high: number;
  spread_pct: number | null;
}

export interface Group {
  side: 'shmem' | 'baseline';
  backend: Backend;
  tier: string;
  case: string;
  n_pes: number | null;
  dtype: string;
  count: number | null;
  api: string;
  payload_bytes: number;
  peak_bandwidth_GBps: number | null;
  launches: number;
  used: number;
  metrics: Record<Metric, Spread | null>;
}

export interface Comparison {
  group: number;
  baseline: number | null;
  verdict: 'pass' | 'fail' | 'noisy' | 'simulated' | 'unmeasured' | 'incomparable';
  by: 'baseline' | 'peak' | '';
  line_pct: number;
  value_pct: number | null;
  why: Text;
}

export interface PerfDocument {
  backend: Backend | 'mixed' | 'none';
  groups: Group[];
  comparisons: Comparison[];
  lacking: Text[];
  problems: { severity: string; run: string | null; log: string; line: number; text: Text }[];
  problem_count: number;
}

export interface CompareRow {
  n_pes: number | null;
  dtype: string;
  count: number | null;
  payload_bytes: number;
  backend: Backend;
  verdict: string;
  why: Text;
  delta_pct: number | null;
  figures: Record<string, { a: number | null; b: number | null; ratio_pct: number | null }>;
}

export interface Round {
  round: number;
  state: 'base' | 'open' | 'kept' | 'reverted';
  idea: string;
  changed: { path: string; change: string }[];
  correctness: 'pass' | 'fail' | 'none';
  measured: { simulated: boolean; figures: Record<string, number> } | null;
  vs_round0_pct: number | null;
  vs_kept_pct: number | null;
  baseline_ratio_pct: number | null;
  reason: string;
}

/** The answer of `opdev/performance`. */
export interface Answer {
  document: PerfDocument;
  comparison: { rows: CompareRow[] } | null;
  csv: string | null;
  rounds: Round[];
}
