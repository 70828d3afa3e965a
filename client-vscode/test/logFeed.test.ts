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

/** Logs that grow, as the server answers of them. */
function answer(files: Record<string, string>, { log, line, count }: Asked): unknown {
  const text = files[log] ?? '';
  const all = text.split('\n');
  if (all.at(-1) === '') {
    all.pop();
  }
  const lines = all.slice(line, line + count);
  const partial = lines.length > 0 && line + lines.length === all.length && !text.endsWith('\n');
  return { logs: [], lines, line, total: all.length, bytes: text.length, cut: false, partial };
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
  const feed = new LogFeed(server, 'file:///op', (message: ToPage) => {
    if (message.type === 'log') {
      page.add(message.log, message.lines, message.partial);
    }
  });
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
