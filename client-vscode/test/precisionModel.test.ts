import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../src/protocol';
import { Precision, compare, dtypeOf, toCsv, worst } from '../webview/precision/model';

let seq = 0;
const event = (type: string, fields: Record<string, unknown> = {}): RunEvent => ({
  v: 1, seq: seq++, time: 0, run: 'r', executor: 'sim', backend: 'sim', type, task: '02-matrix', ...fields,
});
const numbers = (pe: number, MaxAE: number, dtype = 'float16'): RunEvent =>
  event('check', { pe, verdict: null, dtype, values: { MaxAE, MaxRE: MaxAE / 2, MeanRE: MaxAE / 4, rtol: 0.001, atol: 0.001 }, text: '' });
const verdict = (pe: number | null, word: 'PASS' | 'FAIL', text = ''): RunEvent =>
  event('check', { pe, verdict: word, dtype: null, values: {}, text });
const ended = (name: string, word: string, values: Record<string, string> = {}): RunEvent => event('case', { case: name, verdict: word, values });
const case_ = (name: string, error: number, word: 'PASS' | 'FAIL' = 'PASS'): RunEvent[] => [
  numbers(0, 0), verdict(0, 'PASS'), numbers(1, error), verdict(1, word), verdict(null, word), ended(name, word),
];
const model = (events: RunEvent[]): Precision => {
  const made = new Precision();
  made.take(events);
  return made;
};
const started = event('step-started', { title: { zh: '用例矩阵', en: 'case matrix' } });

test('what checkers say before a case ends is of that case', () => {
  const made = model([started, ...case_('a', 0), ...case_('b', 0.5, 'FAIL')]);
  assert.deepEqual(made.rows.map((row) => [row.case, row.verdict, row.cells.get(1)?.verdict]), [['a', 'PASS', 'PASS'], ['b', 'FAIL', 'FAIL']]);
  assert.deepEqual(made.pes, [0, 1]);
  const last = made.rows[1];
  assert.ok(last);
  assert.equal(worst(last, 'MaxAE'), 0.5);
  assert.equal(worst(last, 'MeanRE'), 0.125);
  assert.equal(dtypeOf(last), 'float16');
});

test('events one by one and all at once are the same', () => {
  const events = [started, ...case_('a', 0), ...case_('b', 0.5, 'FAIL'), numbers(0, 0.25)];
  const made = new Precision();
  for (const one of events) {
    made.take([one]);
  }
  assert.deepEqual(made.rows, model(events).rows);
  // The one that goes on is shown, too.
  const going = made.rows.at(-1);
  assert.ok(going);
  assert.deepEqual([made.rows.length, going.case, going.cells.get(0)?.values.MaxAE], [3, null, 0.25]);
});

test('a runner that keeps the output to itself gives what its line says', () => {
  const made = model([started, ended('a', 'FAIL', { maxae: '5.0e-01', maxre: 'nan', dtype: 'float32' })]);
  const [row] = made.rows;
  assert.ok(row);
  assert.deepEqual([row.verdict, worst(row, 'MaxAE'), worst(row, 'MaxRE'), worst(row, 'MeanRE')], ['FAIL', 0.5, 'nan', null]);
  assert.equal(dtypeOf(row), 'float32');
});

test('a PE that failed once in a case has failed, and its worst errors count', () => {
  const made = model([started, numbers(0, 0.5), verdict(0, 'FAIL'), numbers(0, 0.1), verdict(0, 'PASS'), ended('a', 'FAIL')]);
  const cell = made.row('case a')?.cells.get(0);
  assert.deepEqual([cell?.verdict, cell?.values.MaxAE], ['FAIL', 0.5]);
});

test('steps that are no matrix are rows by what they were run for', () => {
  const smoke = { ...started, task: '02-smoke', measures: { n_pes: 2, count: 64, dtype: 'float16' } };
  const of = (one: RunEvent): RunEvent => ({ ...one, task: '02-smoke' });
  const made = model([smoke, of(numbers(0, 0)), of(verdict(0, 'PASS')), of(event('step-ended', { result: 'fail' }))]);
  assert.deepEqual(made.rows.map((row) => [row.key, row.detail, row.verdict]), [['smoke 2 PE 64 float16', '2 PE 64 float16', 'FAIL']]);
});

test('a step that is tried again begins anew', () => {
  const made = model([started, ...case_('a', 0.5, 'FAIL'), { ...started, attempt: 2 }, ...case_('a', 0)]);
  assert.deepEqual(made.rows.map((row) => row.verdict), ['PASS']);
});

test('a case that is run twice is one row, the last one', () => {
  const made = model([started, ...case_('a', 0.5, 'FAIL'), ...case_('a', 0)]);
  assert.deepEqual(made.rows.map((row) => [row.case, row.verdict]), [['a', 'PASS']]);
});

test('two runs are compared by case, also where one of them has it not', () => {
  const [a, b] = [model([started, ...case_('x', 0.5, 'FAIL'), ...case_('y', 0)]), model([started, ...case_('x', 0.25), ...case_('z', 0)])];
  assert.deepEqual(
    compare(a, b).map(({ key, a: one, b: other, delta }) => [key, one?.verdict, other?.verdict, delta]),
    [['case x', 'FAIL', 'PASS', 0.25], ['case y', 'PASS', undefined, null], ['case z', undefined, 'PASS', null]],
  );
});

test('what the engine says of a case is of its row, also where the checker says otherwise or nothing', () => {
  const metrics = { elements: 4, within: 3, precision_percent: 75, max_abs: 2, max_rel: 1, mean_rel: 0.5, rmse: 1, eb: 0, nan_output: 0, inf_output: 0 };
  const result = (pe: number, verdict: 'pass' | 'fail'): object => ({ name: `PE ${pe}`, pe, verdict, dtype: 'float16', metrics });
  const told = (name: string, document: unknown, agrees: boolean | null, why: unknown = null): RunEvent =>
    event('case-precision', { case: name, said: 'PASS', verdict: null, agrees, document, why });
  const document = { verdict: 'fail', backend: 'sim', results: [result(0, 'pass'), result(1, 'fail')], hypotheses: [], notes: [] };
  const made = model([
    started, ...case_('a', 0.5), ended('b', 'PASS'), told('a', document, false), told('b', document, null),
    ended('c', 'PASS'), told('c', null, null, { zh: '没有', en: 'none' }), told('nobody', document, false),
  ]);
  const [a, b, c] = made.rows;
  assert.ok(a && b && c);
  assert.equal(made.rows.length, 3);
  // The checker's figures stay, the engine's fill what it did not print.
  assert.deepEqual([...a.cells.values()].map((cell) => [cell.verdict, cell.engine, cell.values.MaxAE]), [['PASS', 'pass', 0], ['PASS', 'fail', 0.5]]);
  assert.deepEqual([...b.cells.values()].map((cell) => [cell.verdict, cell.engine, cell.values.MaxAE]), [[null, 'pass', 2], [null, 'fail', 2]]);
  assert.deepEqual([a.judged?.verdict, a.judged?.agrees, c.judged?.verdict, c.judged?.why], ['fail', false, null, { zh: '没有', en: 'none' }]);
  assert.ok(toCsv(made, 'r', 'sim').includes('r,sim,a,1,PASS,float16,0.5,0.25,0.125,0.001,0.001,fail'));
});

test('CSV has a line for each PE, and no formulas', () => {
  const lines = toCsv(model([started, ...case_('=a,"b"', 0.5, 'FAIL'), ended('c', 'BLOCKED')]), 'r', 'sim').trimEnd().split('\n');
  assert.equal(lines[0], 'run,backend,case,pe,verdict,dtype,MaxAE,MaxRE,MeanRE,rtol,atol,engine');
  assert.equal(lines[2], `r,sim,"'=a,""b""",1,FAIL,float16,0.5,0.25,0.125,0.001,0.001,`);
  assert.equal(lines[3], 'r,sim,c,,BLOCKED,,,,,,,');
});
