import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../src/protocol';
import type { Comparison, Group, PerfDocument } from '../webview/performance/document';
import { BUS } from '../webview/performance/document';
import { Performance, lines, target } from '../webview/performance/model';
import { bytes, csvLine, error, fixed, shown, signed } from '../webview/shared/numbers';

const event = (type: string, fields: Record<string, unknown>, backend = 'sim'): RunEvent => ({
  v: 1, seq: 0, time: 0, run: 'r', executor: 'sim', backend, type, task: '01-perf', ...fields,
});
const perf = (pe: number, bus: number, e2e: number): RunEvent =>
  event('perf', { pe, baseline: false, values: { [BUS]: bus, e2e_us: e2e, payload_bytes: 1024 } });
const started = event('step-started', { measures: { n_pes: 2, count: 512, dtype: 'float16' } });
const spread = (median: number): Group['metrics']['e2e_us'] => ({ median, low: median, high: median, spread_pct: null });
const group = (backend: Group['backend'], side: Group['side'], payload: number, bus: number, more: Partial<Group> = {}): Group => ({
  side, backend, tier: 'S', case: `${payload}`, n_pes: 2, dtype: 'float16', count: 512, api: side === 'baseline' ? 'HcclAllGather' : '',
  payload_bytes: payload, peak_bandwidth_GBps: 196, launches: 1, used: 1, ...more,
  metrics: {
    [BUS]: spread(bus), e2e_us: spread(1), kernel_us: spread(1), algo_bandwidth_GBps: spread(1), e2e_bus_bandwidth_GBps: spread(1),
    bandwidth_utilization_pct: spread(1),
  },
});
const comparison = (of: number, baseline: number | null, more: Partial<Comparison> = {}): Comparison => ({
  group: of, baseline, verdict: 'pass', by: baseline === null ? 'peak' : 'baseline', line_pct: 80, value_pct: 90, why: { zh: '', en: '' }, ...more,
});
const document = (groups: Group[], comparisons: Comparison[] = []): PerfDocument => ({
  backend: 'hardware', groups, comparisons, lacking: [], problems: [], problem_count: 0,
});
const settled = (groups: Group[], comparisons: Comparison[] = []): Performance => {
  const made = new Performance();
  made.settle(document(groups, comparisons));
  return made;
};

test('while a step measures, whole launches count: the slowest PE, the mean bandwidth', () => {
  const made = new Performance();
  made.take([started, perf(0, 10, 100)]);
  assert.deepEqual([made.groups[0]?.used, made.groups[0]?.launches, made.groups[0]?.metrics[BUS]], [0, 1, null]);
  made.take([perf(1, 20, 50), perf(0, 30, 10), perf(1, 30, 20), perf(1, 99, 99)]);
  const [live] = made.groups;
  assert.ok(live);
  assert.deepEqual([live.live, live.backend, live.n_pes, live.dtype, live.used, live.launches], [true, 'sim', 2, 'float16', 2, 3]);
  // Of two launches the slower one: 15 and 30 GB/s, 100 and 20 us.
  assert.deepEqual([live.metrics[BUS]?.median, live.metrics.e2e_us?.median], [15, 100]);
});

test('the document takes the place of what came live', () => {
  const made = new Performance();
  made.take([started, perf(0, 10, 1), perf(1, 10, 1)]);
  assert.ok(made.pending);
  made.take([event('perf-summary', { document: document([group('sim', 'shmem', 1024, 10)]) })]);
  assert.deepEqual([made.pending, made.measured, made.groups.map((one) => one.live)], [false, true, [false]]);
});

test('older measurements make way for those of the run', () => {
  const made = new Performance();
  made.settle(document([group('hardware', 'shmem', 8, 1)]), true);
  assert.equal(made.groups.length, 1);
  made.take([started, perf(0, 10, 1), perf(1, 10, 1)]);
  assert.deepEqual([made.everything, made.groups.map((one) => one.live)], [false, [true]]);
});

test('what cannot be believed is not shown', () => {
  assert.deepEqual(settled([group('hardware', 'shmem', 8, 1, { used: 0 })]).groups, []);
});

test('a target is a share of the baseline it is compared with, else of the peak', () => {
  const made = settled(
    [group('hardware', 'shmem', 1024, 9), group('hardware', 'shmem', 2048, 9), group('hardware', 'baseline', 1024, 10)],
    [comparison(0, 2), comparison(1, null, { line_pct: 20 })],
  );
  const [first, second, third] = made.groups;
  assert.ok(first && second && third);
  assert.deepEqual([target(first), target(second), target(third)], [8, 39.2, null]);
});

test('simulated figures have no target, and no line beside hardware', () => {
  const made = settled(
    [group('hardware', 'shmem', 1024, 9), group('sim', 'shmem', 1024, 1), group('hardware', 'baseline', 1024, 10)],
    [comparison(0, 2), comparison(1, 2, { verdict: 'incomparable' })],
  );
  assert.deepEqual(lines(made.groups, BUS, 'sim').map((one) => [one.kind, [...one.points]]), [['measured', [[1024, 1]]]]);
  assert.deepEqual(
    lines(made.groups, BUS, 'hardware').map((one) => [one.kind, one.label, [...one.points]]),
    [
      ['measured', '2 PE float16', [[1024, 9]]],
      ['target', '2 PE float16', [[1024, 8]]],
      ['baseline', 'HcclAllGather 2 PE float16', [[1024, 10]]],
    ],
  );
  assert.deepEqual(lines(made.groups, 'e2e_us', 'hardware').map((one) => one.kind), ['measured', 'baseline']);
  const simulated = settled([group('sim', 'shmem', 1024, 1)], [comparison(0, null, { verdict: 'simulated' })]).groups[0];
  assert.ok(simulated);
  assert.equal(target(simulated), null);
});

test('numbers are written as the command line writes them', () => {
  // As Python's f"{x:.2f}", ties to even.
  for (const [value, text] of [[0.125, '0.12'], [0.375, '0.38'], [2.5, '2.50'], [1.005, '1.00'], [38976.1, '38976.10'], [-0.125, '-0.12'], [1e16, '10000000000000000']] as const) {
    assert.equal(fixed(value, 2), text);
  }
  assert.deepEqual([fixed(0.5, 0), fixed(1.5, 0), fixed(2.5, 0)], ['0', '2', '2']);
  assert.deepEqual([shown(0), shown(0.0056352), shown(0.01), shown(null), shown(12.3456)], ['0.00', '0.0056', '0.01', '–', '12.35']);
  assert.deepEqual([signed(3.14), signed(-3.15), signed(null)], ['+3.1 %', '-3.1 %', '–']);
  assert.deepEqual([error(0), error(0.00123), error('nan'), error(null)], ['0', '1.23e-3', 'nan', '–']);
  assert.deepEqual([bytes(512), bytes(8388608), bytes(1536)], ['512 B', '8 MiB', '1.5 KiB']);
  assert.equal(csvLine(['=1', 2, null, 'a"b', -3]), `'=1,2,,"a""b",-3`);
});
