import assert from 'node:assert/strict';
import { test } from 'node:test';
import { written } from './vscode';
import { closeLog, log } from '../src/log';

test('what is said after the log was closed is no error', () => {
  const kept = log();
  kept.info('before');
  assert.equal(kept, log());
  closeLog();
  kept.info('after');
  log().info('after');
  closeLog();
  assert.equal(kept.name, 'opdev');
  assert.deepEqual(written, ['before']);
});
