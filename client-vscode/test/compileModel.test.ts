import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes } from '../webview/compile/compare';
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
