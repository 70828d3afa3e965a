import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Crashes } from '../src/server/crashes';
import { Serial } from '../src/server/serial';

test('requests never overlap, and only the newest that waits is done', async () => {
  const serial = new Serial();
  const done: number[] = [];
  let inside = 0;
  const work = (number: number) => async (): Promise<void> => {
    inside += 1;
    assert.equal(inside, 1);
    await new Promise((resolve) => setImmediate(resolve));
    done.push(number);
    inside -= 1;
  };
  await Promise.all([1, 2, 3, 4].map((number) => serial.request(work(number))));
  assert.deepEqual(done, [1, 4]);
  await serial.request(work(5));
  assert.deepEqual(done, [1, 4, 5]);
});

test('a request that fails does not stop the next', async () => {
  const serial = new Serial();
  let ran = false;
  await serial.request(() => Promise.reject(new Error('no')));
  await serial.request(async () => {
    ran = true;
    await Promise.resolve();
  });
  assert.ok(ran);
});

test('a server that dies again and again is left alone, one that dies now and then is not', () => {
  const often = new Crashes();
  assert.deepEqual([0, 1, 2, 3].map((second) => often.note('x', second * 1000)), [true, true, true, false]);
  const seldom = new Crashes();
  assert.ok(Array.from({ length: 30 }, (_, hour) => seldom.note('x', hour * 3_600_000)).every(Boolean));
  assert.equal(seldom.history.length, 10);
});
