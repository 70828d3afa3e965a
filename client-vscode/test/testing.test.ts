import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../src/protocol';
import type { Server } from '../src/server/server';
import { NewsReader } from '../src/testing/news';
import { EVERY_MS, Output } from '../src/testing/output';
import { Tail } from '../src/testing/tail';

let seq = 0;
const event = (type: string, fields: Record<string, unknown>): RunEvent => ({
  v: 1,
  seq: seq++,
  time: 0,
  run: 'r',
  executor: 'sim',
  backend: 'sim',
  type,
  ...fields,
});
const text = (words: string): { zh: string; en: string } => ({ zh: `${words}。`, en: words });

test('output goes out in batches, with both characters at the end of a line', async () => {
  const written: string[] = [];
  const output = new Output((said) => written.push(said), 'more');
  output.add(['a', 'b']);
  output.add(['c']);
  assert.deepEqual(written, []);
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS * 2));
  assert.deepEqual(written, ['a\r\nb\r\nc\r\n']);
  output.add(['d']);
  output.flush();
  assert.deepEqual(written.slice(1), ['d\r\n']);
});

test('long lines are clipped, and a flood ends with a word on where the rest is', () => {
  const written: string[] = [];
  const output = new Output((said) => written.push(said), 'more', 1_000);
  output.add(['x'.repeat(10_000)]);
  output.add(Array.from({ length: 1_000 }, () => 'y'.repeat(50)));
  output.add(['never']);
  output.flush();
  const lines = written.join('').split('\r\n');
  assert.equal(lines[0]?.length, 501);
  assert.equal(lines.at(-2), 'more');
  assert.ok(written.join('').length < 1_100);
  assert.ok(output.full);
});

test('events become verdicts, reasons and an end', () => {
  const reader = new NewsReader();
  const first = [
    event('step-started', { task: '01-build' }),
    event('step-started', { task: '02-matrix' }),
    event('case', { task: '02-matrix', case: 'a', verdict: 'PASS', values: { seconds: '1.5' } }),
    event('case', { task: '02-matrix', case: 'b', verdict: null, values: {} }),
  ];
  assert.deepEqual(reader.take(first, 'running'), [
    { kind: 'matrix' },
    { kind: 'verdict', id: 'a', verdict: 'PASS', seconds: 1.5 },
  ]);
  // What came already says nothing again.
  assert.deepEqual(reader.take(first, 'running'), []);
  const why = { zh: '甲。\n乙。', en: '甲\n乙' };
  const rest = [
    event('diagnosis', { rank: 0, cause: text('甲'), next: text('乙') }),
    event('diagnosis', { rank: 1, cause: text('no'), next: text('no') }),
    event('run-ended', { outcome: 'failed', why: text('later') }),
  ];
  assert.deepEqual(reader.take(rest, 'failed'), [
    { kind: 'why', text: why },
    { kind: 'over', state: 'failed', text: why },
  ]);
  // What explains nothing is told to cases without a verdict only.
  const unknown = event('diagnosis', { rank: 0, signature: 'unknown', cause: text('甲'), next: text('乙') });
  assert.deepEqual(new NewsReader().take([unknown], 'failed'), [{ kind: 'over', state: 'failed', text: { zh: '甲。\n乙。', en: '甲\n乙' } }]);
});

test('a run that was blocked says why, for the cases that got no verdict', () => {
  const found = new NewsReader().take([event('phase-ended', { outcome: 'blocked', why: text('no design') })], 'blocked');
  assert.deepEqual(found, [{ kind: 'over', state: 'blocked', text: text('no design') }]);
});

test('a log is read as it grows, the line that is being written last of all', async () => {
  let lines = ['one', 'tw'];
  const sendRequest = (_: string, asked: { line: number }): Promise<unknown> =>
    Promise.resolve({ lines: lines.slice(asked.line), total: lines.length, partial: true });
  const taken: string[] = [];
  const tail = new Tail({ client: { sendRequest } } as unknown as Server, 'root', 'r', (some) => {
    taken.push(...some);
    return true;
  });
  tail.heard([event('output', { log: 'a.log' })]);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.deepEqual(taken, ['one']);
  lines = ['one', 'two', 'three'];
  await tail.end();
  assert.deepEqual(taken, ['one', 'two', 'three']);
});
