// The document of `opdev precision --format json`, as far as the panel draws it; its schema is the command's.
import type { Text } from '../shared/text';

/** What JSON has no number for is a word. */
export type Value = number | 'nan' | 'inf' | '-inf';

export interface Histogram {
  kind: 'absolute' | 'relative';
  exact: number;
  uncompared: number;
  bins: { low: number; high: number | null; count: number }[];
}

export interface Heat {
  view: [number, number];
  tile: [number, number];
  grid: [number, number];
  worst: Value[][];
  mismatches: number[][];
}

export interface Tile {
  rows: [number, number];
  columns: [number, number];
  elements: number;
  mismatches: number;
  worst: Value;
}

export interface Mismatch {
  index: number;
  coordinates: number[];
  actual: Value;
  expected: Value;
  difference: Value;
  allowed: Value;
}

export interface Hypothesis {
  cause: string;
  confidence: 'strong' | 'weak';
  text: Text;
  evidence: Text;
}

export interface Result {
  name: string;
  pe: number | null;
  output: string;
  verdict: 'pass' | 'fail' | 'error';
  reasons: { code: string; text: Text }[];
  notes: Text[];
  dtype: string | null;
  shape: number[] | null;
  limits: { rtol: number; atol: number; source: Text } | null;
  metrics: {
    elements: number; within: number; precision_percent: number; max_abs: Value; max_rel: Value; mean_rel: Value; rmse: Value;
    eb: Value; nan_output: number; inf_output: number;
  } | null;
  mismatch_count: number;
  mismatches: Mismatch[];
  histograms: Histogram[];
  heat: Heat | null;
  worst_tiles: Tile[];
  hypotheses: Hypothesis[];
}

export interface Report {
  verdict: 'pass' | 'fail' | 'error';
  backend: 'sim' | 'npu' | null;
  results: Result[];
  hypotheses: Hypothesis[];
  notes: Text[];
}

/** The answer of `opdev/precision`. */
export interface Answer {
  document: Report;
  ofRun: boolean | null;
}
