import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogFeed } from '../src/panels/logFeed';
import type { ToPage } from '../src/panels/messages';
import type { RunEvent } from '../src/protocol';
import type { Server } from '../src/server/server';
import { Compile } from '../webview/compile/model';

interface Asked {
  log: string;
  line: number;
  count: number;
}

const output = (log: string): RunEvent => ({ v: 1, seq: 0, time: 0, run: 'r', executor: 'host', backend: 'npu', type: 'output', log });

/** Shows on a page what the feed sends. */
const shows =
  (page: Compile) =>
  (message: ToPage): void => {
    if (message.type === 'log') {
      page.add(message.log, message.lines, message.partial);
    } else if (message.type === 'ahead') {
      page.end(message.log, message.line, message.lines);
    }
  };

/** Logs that grow, as the server answers of them. */
function answer(files: Record<string, string>, { log, line, count }: Asked): unknown {
  const text = files[log] ?? '';
  const all = text.split('\n');
  if (all.at(-1) === '') {
    all.pop();
  }
  const first = line < 0 ? Math.max(0, all.length + line) : line;
  const lines = all.slice(first, first + count);
  const partial = lines.length > 0 && first + lines.length === all.length && !text.endsWith('\n');
  return { logs: [], lines, line: first, total: all.length, bytes: text.length, cut: false, partial };
}

const until = async (condition: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !condition(); ) {
    assert.ok(Date.now() < end, 'it never happened');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

test('a line that is being written is shown, and replaced by what it becomes', async () => {
  const files: Record<string, string> = { a: 'one\ntw' };
  const page = new Compile();
  const server = { client: { sendRequest: (_: string, asked: Asked) => Promise.resolve(answer(files, asked)) } } as unknown as Server;
  const feed = new LogFeed(server, 'file:///op', shows(page));
  feed.begin('r');
  feed.comes([output('a')]);
  await until(() => page.lines.includes('tw'));
  assert.deepEqual(page.lines, ['━━ a', 'one', 'tw']);
  files.a = 'one\ntwo and';
  feed.comes([output('a')]);
  await until(() => page.lines.includes('two and'));
  assert.deepEqual(page.lines, ['━━ a', 'one', 'two and']);
  files.a = 'one\ntwo and more\nthree';
  feed.comes([output('a')]);
  await until(() => page.lines.includes('three'));
  // The run ends here: what has no end stays as it is.
  assert.deepEqual(page.lines, ['━━ a', 'one', 'two and more', 'three']);
  feed.dispose();
});

test('a line becomes whole where it stands, also when another log came between', () => {
  const page = new Compile();
  page.add('a', ['one', 'tw'], true);
  page.add('b', ['other'], false);
  page.add('a', ['two'], false);
  assert.deepEqual(page.lines, ['━━ a', 'one', 'two', '━━ b', 'other']);
  page.add('a', ['three'], false);
  assert.deepEqual(page.lines.slice(-2), ['━━ a', 'three']);
});

test('the filter follows a line that becomes another', () => {
  const page = new Compile();
  page.add('a', ['error: x', 'warn'], true);
  page.add('b', ['error: y'], false);
  assert.deepEqual(page.matching('error'), ['error: x', 'error: y']);
  page.add('a', ['warning, no error'], true);
  assert.deepEqual(page.matching('error'), ['error: x', 'warning, no error', 'error: y']);
  page.add('a', ['warning', 'error: z'], false);
  assert.deepEqual(page.matching('error'), ['error: x', 'error: y', 'error: z']);
});

test('what was dropped with the oldest lines is not shown again', () => {
  const page = new Compile();
  page.add('a', ['begun'], true);
  page.add('b', Array.from({ length: 300_000 }, (_, index) => String(index)), false);
  assert.equal(page.dropped, 50_000);
  page.add('a', ['begun and ended', 'next'], false);
  assert.ok(!page.lines.includes('begun and ended'));
  assert.deepEqual(page.lines.slice(-2), ['━━ a', 'next']);
});

/** A log of so many lines that grows by as many at each question, until it is said to end. */
function flooding(log: string, step: number) {
  const asked: Asked[] = [];
  const flood = { lines: 0, ended: false, asked };
  const sendRequest = (_: string, one: Asked): Promise<unknown> => {
    asked.push(one);
    flood.lines += flood.ended || one.log !== log ? 0 : step;
    const { lines: total } = one.log === log ? flood : { lines: 2 };
    const first = one.line < 0 ? Math.max(0, total + one.line) : one.line;
    const count = Math.max(0, Math.min(one.count, total - first));
    const lines = Array.from({ length: count }, (__, index) => `${one.log} ${first + index}`);
    return Promise.resolve({ logs: [], lines, line: first, total, bytes: 0, cut: false, partial: false });
  };
  return Object.assign(flood, { server: { client: { sendRequest } } as unknown as Server });
}

test('a log that comes faster than it is read is shown by its end, and is whole at the end', async () => {
  const page = new Compile();
  const flood = flooding('a', 12_000);
  const feed = new LogFeed(flood.server, 'file:///op', shows(page));
  feed.begin('r');
  feed.comes([output('a')]);
  await until(() => flood.lines > 50_000);
  const { missing, lines, heading } = page.rest();
  assert.equal(page.lines.length, 0, 'all of a flood was sent');
  assert.equal(heading, '━━ a');
  assert.ok(lines.length < 1_000);
  // Its newest line is there, and as many are missing as the log has before the first that is shown.
  assert.equal(lines[0], `a ${missing}`);
  assert.ok(missing + lines.length > 20_000);
  // Another log is not kept waiting by it.
  feed.comes([output('b')]);
  await until(() => page.lines.includes('b 1'));
  flood.ended = true;
  await until(() => page.rest().lines.length === 0);
  assert.deepEqual(
    page.lines.filter((line) => line.startsWith('a ')),
    Array.from({ length: flood.lines }, (_, index) => `a ${index}`),
  );
  feed.dispose();
});

test('all of a flood comes while it is wanted', async () => {
  const page = new Compile();
  const flood = flooding('a', 11_000);
  const feed = new LogFeed(flood.server, 'file:///op', shows(page));
  feed.begin('r');
  feed.want(true);
  feed.comes([output('a')]);
  await until(() => page.lines.length > 20_000);
  assert.equal(page.rest().missing, 0);
  assert.ok(flood.asked.every((one) => one.line >= 0));
  feed.want(false);
  await until(() => page.rest().missing > 0);
  feed.dispose();
});

test('rows keep their places as what was missing comes', () => {
  const page = new Compile();
  page.add('a', ['a 0', 'a 1'], false);
  page.end('a', 5, ['a 5', 'a 6']);
  assert.deepEqual(page.rest(), { heading: '', missing: 3, lines: ['a 5', 'a 6'] });
  page.add('a', ['a 2', 'a 3', 'a 4', 'a 5'], false);
  assert.deepEqual(page.rest(), { heading: '', missing: 0, lines: ['a 6'] });
  assert.deepEqual(page.shownRest('6'), { heading: '', missing: 0, lines: [] });
  page.fold('━━ a', true);
  assert.deepEqual(page.shownRest(''), { heading: '', missing: 0, lines: [] });
  page.fold('━━ a', false);
  page.add('a', ['a 6'], false);
  assert.deepEqual(page.rest(), { heading: '', missing: 0, lines: [] });
});
