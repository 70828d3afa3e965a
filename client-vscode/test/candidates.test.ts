import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Places } from '../src/python/candidates';
import { candidates } from '../src/python/candidates';

const PLACES: Places = {
  setting: '',
  folders: ['/w/ops'],
  path: ['/usr/bin'],
  managed: '/home/u/.opdev/python/bin/python',
  trusted: true,
  windows: false,
};

const pythons = (places: Partial<Places>): string[] =>
  candidates({ ...PLACES, ...places }).map((one) => `${one.origin}:${one.python}`);

test('the workspace comes before PATH, and the own environment last', () => {
  assert.deepEqual(pythons({}), [
    'workspace:/w/ops/.venv/bin/python',
    'workspace:/w/ops/venv/bin/python',
    'workspace:/w/ops/env/bin/python',
    'path:/usr/bin/python3',
    'path:/usr/bin/python',
    'managed:/home/u/.opdev/python/bin/python',
  ]);
});

test('a set interpreter is the only one', () => {
  assert.deepEqual(pythons({ setting: ' /opt/py/bin/python ' }), ['setting:/opt/py/bin/python']);
  assert.deepEqual(pythons({ setting: '${workspaceFolder}/tools/python' }), ['setting:/w/ops/tools/python']);
  assert.deepEqual(pythons({ setting: 'tools/python' }), ['setting:/w/ops/tools/python']);
  assert.deepEqual(pythons({ setting: 'python3.11' }), ['setting:python3.11']);
});

test('nothing inside an untrusted workspace is run, not even through PATH', () => {
  assert.deepEqual(pythons({ trusted: false, path: ['/w/ops/bin', '/usr/bin', '.', 'bin'] }), [
    'path:/usr/bin/python3',
    'path:/usr/bin/python',
    'managed:/home/u/.opdev/python/bin/python',
  ]);
});

test('a folder beside the workspace is not in it', () => {
  assert.ok(pythons({ trusted: false, path: ['/w/ops2/bin'] }).includes('path:/w/ops2/bin/python3'));
});

test('an own environment that is not there is no candidate', () => {
  assert.ok(!pythons({ managed: null }).some((one) => one.startsWith('managed:')));
});
