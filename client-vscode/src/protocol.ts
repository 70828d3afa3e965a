// The server's own messages, as server/opdev/lsp/running/messages.py has them; a test holds this file against it.

export type RunState = 'starting' | 'running' | 'passed' | 'failed' | 'blocked' | 'stopped' | 'lost';

/** A line (0-based) of a file. */
export interface Place {
  uri: string;
  line: number;
}

export interface Check {
  id: string;
  title: string;
  state: string;
  detail: string;
  opens: string;
  place: Place | null;
}

export interface PhaseState {
  id: string;
  title: string;
  /** Whether it can be run from here. */
  runs: boolean;
  state: 'open' | 'closed' | 'skipped' | 'ahead';
  why: string;
  checks: Check[];
}

export interface RunBrief {
  run: string;
  state: RunState;
  request: string;
  phase: string | null;
  executor: string;
  backend: 'npu' | 'sim';
  pes: number;
  text: string;
  percent: number | null;
}

export type Workflow = 'shmem' | 'pypto-classic' | 'pypto-pro' | 'pypto-pro-4';

export interface OperatorStatus {
  root: string;
  name: string;
  workflow: Workflow;
  phase: string;
  row: number | null;
  why: string;
  next: string;
  worker: string;
  complete: boolean;
  place: Place | null;
  phases: PhaseState[];
  running: RunBrief[];
}

export interface PhaseStatusResult {
  operators: OperatorStatus[];
  failed: { root: string; problem: string }[];
  complete: boolean;
}

/** A line of events.jsonl. */
export interface RunEvent {
  v: number;
  seq: number;
  time: number;
  run: string;
  executor: string;
  backend: string;
  type: string;
  [field: string]: unknown;
}

export interface RunEventParams {
  root: string;
  run: string;
  state: RunState;
  events: RunEvent[];
}

export interface RunRecord {
  run: string;
  root: string;
  operator: string;
  state: RunState;
  request: string;
  phase: string | null;
  step: string | null;
  executor: string;
  backend: string;
  pes: number | null;
  started: number;
  ended: number | null;
  message: string;
  resumeOf: string | null;
}

export interface RunHistoryResult {
  runs: RunRecord[];
  more: boolean;
}

export interface RunEventsResult {
  events: RunEvent[];
  state: RunState;
  more: boolean;
}

export interface RunLogResult {
  logs: { name: string; bytes: number }[];
  lines: string[];
  line: number;
  total: number;
  bytes: number;
  cut: boolean;
  partial: boolean;
}

export const going = (state: RunState): boolean => state === 'starting' || state === 'running';

/** Whether the operator's runner can be told which cases to run: one at a time, or several. */
export type Picks = 'none' | 'one' | 'some';

export interface CaseVerdict {
  run: string;
  backend: string;
  time: number;
  verdict: string;
  text: string;
  expected: string;
  actual: string;
}

export interface CaseRecord {
  id: string;
  purpose: string;
  category: string | null;
  dtype: string | null;
  tier: string | null;
  pes: number | null;
  shape: string | null;
  place: Place;
  last: CaseVerdict | null;
}

export interface CasesResult {
  cases: CaseRecord[];
  origin: 'design' | 'json' | 'runner' | null;
  complete: boolean;
  picks: Picks;
}

/** What a new operator may be; `problem` is what is wrong with the name that was asked about. */
export interface NewOperatorOffer {
  kinds: { id: string; label: string; dtypes: string[] }[];
  buildModes: { id: string; label: string }[];
  folders: string[];
  problem: string | null;
}

export interface NewOperator {
  name: string;
  kind: string;
  dtypes: string[];
  buildMode: string;
  torch: boolean;
  folder: string;
}

export interface NewOperatorResult {
  root: string;
  design: string;
  text: string;
}

export interface FileNote {
  uri: string;
  text: string;
}

/** `kept` are files that opdev did not write and left as they are. */
export interface ClangdResult {
  root: string;
  origin: string;
  files: number;
  written: string[];
  same: string[];
  kept: FileNote[];
  notes: FileNote[];
}
