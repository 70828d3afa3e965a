import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { probe, read } from '../src/python/probe';

test('a Python without opdev says so', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'opdev-'));
  try {
    const answer = await probe('/usr/bin/python3', folder);
    assert.match(answer?.python ?? '', /^3\.\d+\.\d+$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what does not run, or is no Python, is no answer', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'opdev-'));
  try {
    assert.equal(await probe('/nowhere/python', folder), null);
    const fake = path.join(folder, 'python');
    writeFileSync(fake, '#!/bin/sh\necho hello\n', { mode: 0o755 });
    assert.equal(await probe(fake, folder), null);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('only the last line of the output counts', () => {
  assert.deepEqual(read('a banner\n{"python": "3.11.2", "opdev": "0.1.0"}\n', ['-I']), {
    python: '3.11.2',
    opdev: '0.1.0',
    prefix: '',
    options: ['-I'],
  });
  assert.equal(read('{"python": 3}', []), null);
  assert.equal(read('', []), null);
});
