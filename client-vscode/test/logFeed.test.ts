import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogFeed } from '../src/panels/logFeed';
import type { ToPage } from '../src/panels/messages';
import type { RunEvent } from '../src/protocol';
import type { Server } from '../src/server/server';

const event = (type: string, fields: Record<string, unknown> = {}): RunEvent => ({
  v: 1,
  seq: 0,
  time: 0,
  run: 'r',
  executor: 'host',
  backend: 'npu',
  type,
  ...fields,
});

/** A log that grows: what the server would answer of it. */
class Growing {
  text = '';

  answer(asked: { line: number; count: number }): unknown {
    const all = this.text.split('\n');
    if (all.at(-1) === '') {
      all.pop();
    }
    return { logs: [], lines: all.slice(asked.line, asked.line + asked.count), line: asked.line, total: all.length, bytes: 0, cut: false };
  }
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

test('a line that was read before it was whole is shown once, whole', async () => {
  const file = new Growing();
  const shown: string[] = [];
  const server = {
    client: { sendRequest: (_: string, asked: { line: number; count: number }) => Promise.resolve(file.answer(asked)) },
  } as unknown as Server;
  const feed = new LogFeed(server, 'file:///op', (message: ToPage) => {
    if (message.type === 'log') {
      assert.equal(message.line, shown.length);
      shown.push(...message.lines);
    }
  });
  feed.begin('r');
  file.text = 'one\ntw';
  feed.comes([event('output', { log: 'a' })]);
  await until(() => shown.length === 1);
  file.text = 'one\ntwo\nthr';
  feed.comes([event('output', { log: 'a' })]);
  await until(() => shown.length === 2);
  file.text = 'one\ntwo\nthree, without an end';
  feed.comes([event('output', { log: 'a' }), event('step-ended')]);
  await until(() => shown.length === 3);
  assert.deepEqual(shown, ['one', 'two', 'three, without an end']);
  feed.dispose();
});
