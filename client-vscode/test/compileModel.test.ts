import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes } from '../webview/compile/compare';
import { Compile } from '../webview/compile/model';
import type { Found } from '../webview/compile/model';

const found = (message: string, line: number, path: string | null = '/w/a.cpp'): Found => ({
  severity: 'error', message, path, line, column: 1, resolved: true, flag: null,
});

test('of two runs the errors that are new and those that are gone are told, wherever lines moved', () => {
  const before = [found('a', 1), found('b', 2), found('twice', 3), found('c', 9, null)];
  const now = [found('a', 5), found('twice', 3), found('twice', 7), found('c', 1, '/w/b.cpp')];
  const told = changes(now, before);
  assert.deepEqual(now.map((one) => told.fresh.has(one)), [false, false, true, true]);
  assert.deepEqual(told.gone, [before[1], before[3]]);
});

test('a log that is folded shows its headings, also of what comes later', () => {
  const model = new Compile();
  model.add('build', ['a', 'b'], false);
  model.add('smoke', ['c'], false);
  model.fold('━━ build', true);
  assert.deepEqual(model.matching(''), ['━━ build', '━━ smoke', 'c']);
  model.add('build', ['d'], true);
  model.add('build', ['de', 'f'], false);
  assert.deepEqual(model.matching(''), ['━━ build', '━━ smoke', 'c', '━━ build']);
  // What is looked for is found, folded or not.
  assert.deepEqual(model.matching('DE'), ['de']);
  model.fold('━━ build', false);
  assert.deepEqual(model.matching(''), ['━━ build', 'a', 'b', '━━ smoke', 'c', '━━ build', 'de', 'f']);
  model.foldAll(true);
  assert.deepEqual(model.matching(''), ['━━ build', '━━ smoke', '━━ build']);
  assert.ok(model.isFolded('━━ smoke'));
  model.foldAll(false);
  assert.equal(model.matching('').length, 8);
});
