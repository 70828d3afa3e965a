import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, minor } from '../src/python/version';

test('versions are compared by their numbers', () => {
  assert.ok(compare('0.9.0', '0.10.0') < 0);
  assert.ok(compare('1.0', '1.0.0') === 0);
  assert.ok(compare('0.2.0rc1', '0.1.9') > 0);
  assert.ok(compare('0.2.0rc1', '0.2.0') === 0);
  assert.ok(compare('', '0.1.0') < 0);
  assert.equal(minor('3.11.7'), '3.11');
});
