// Environments as they are made: by a Python that obeys, so that every way it can go wrong is walked.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import type { Bundle, Home } from '../src/python/managed';
import { bundle, hadOne, home, isReady, make, NotMade, ownInterpreter, serves } from '../src/python/managed';

const FOUND: Bundle = { wheels: '', manifest: { pythons: ['3.10', '3.11'], platform: 'linux-x86_64', digest: 'abcdefabcdefabcdef' } };
const never = new AbortController().signal;

/** A python that writes what it is asked into `calls`; `-m venv` puts a copy of it where the environment's own is. */
const PYTHON = `#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "LOG"
case "$*" in
  *"-m venv"*) VENV; for last; do :; done; mkdir -p "$last/bin" && cp "$0" "$last/bin/python" ;;
  *"pip"*"install"*) PIP ;;
esac
`;

interface Bench {
  readonly where: Home;
  readonly base: string;
  readonly found: Bundle;
  readonly calls: () => string[];
}

async function bench(lines: { venv?: string; pip?: string }, use: (bench: Bench) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'opdev-'));
  try {
    const calls = path.join(folder, 'calls');
    const base = path.join(folder, 'python3');
    const text = PYTHON.replace('LOG', calls).replace('VENV', lines.venv ?? ':').replace('PIP', lines.pip ?? ':');
    writeFileSync(base, text, { mode: 0o755 });
    mkdirSync(path.join(folder, 'wheels'));
    writeFileSync(path.join(folder, 'wheels', 'pip-26-py3-none-any.whl'), '');
    const found = { ...FOUND, wheels: path.join(folder, 'wheels') };
    await use({
      where: home(path.join(folder, 'envs'), '0.1.0', found),
      base,
      found,
      calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('an environment is made of the wheels alone, and is ready only at the end', () =>
  bench({}, async ({ where, base, found, calls }) => {
    const steps: string[] = [];
    await make(where, found, base, never, (step) => {
      assert.ok(!isReady(where));
      steps.push(step);
    });
    assert.deepEqual(steps, ['environment', 'packages', 'check']);
    assert.ok(isReady(where));
    assert.ok(existsSync(ownInterpreter(where, false)));
    assert.match(calls()[1] ?? '', /pip-26-py3-none-any\.whl\/pip --isolated .*--no-index .*--find-links \S+wheels .*opdev$/);
    assert.match(calls()[2] ?? '', / numpy$/);
    await make(where, found, base, never, () => assert.fail('it is there already'));
    assert.deepEqual(readdirSync(where.folder), [where.name]);
  }));

test('a Python that cannot make environments says so, and nothing is left', () =>
  bench({ venv: 'echo "The virtual environment was not created successfully because ensurepip is not available"; exit 1' }, async (one) => {
    await assert.rejects(make(one.where, one.found, one.base, never, () => undefined), (error) => error instanceof NotMade && error.why === 'no-venv');
    assert.ok(!isReady(one.where));
    assert.deepEqual(readdirSync(one.where.folder), []);
  }));

test('packages that do not install are a failure with what pip said', () =>
  bench({ pip: 'echo "ERROR: No matching distribution found for x" >&2; exit 1' }, async (one) => {
    await assert.rejects(
      make(one.where, one.found, one.base, never, () => undefined),
      (error) => error instanceof NotMade && error.why === 'failed' && error.output.includes('No matching distribution'),
    );
    assert.deepEqual(readdirSync(one.where.folder), []);
  }));

test('an environment is one without numpy, too', () =>
  bench({ pip: 'case "$*" in *numpy) exit 1 ;; esac' }, async (one) => {
    await make(one.where, one.found, one.base, never, () => undefined);
    assert.ok(isReady(one.where));
  }));

test('cancelling ends what runs and leaves nothing', () =>
  bench({ pip: 'sleep 600' }, async (one) => {
    const stop = new AbortController();
    const done = make(one.where, one.found, one.base, stop.signal, (step) => {
      if (step === 'packages') {
        setTimeout(() => stop.abort(new NotMade('cancelled', 'cancelled')), 50);
      }
    });
    await assert.rejects(done, (error) => error instanceof NotMade && error.why === 'cancelled');
    assert.deepEqual(readdirSync(one.where.folder), []);
  }));

test('a half-made one is made anew, and a lock of somebody who is gone is taken over', () =>
  bench({}, async (one) => {
    mkdirSync(path.join(one.where.folder, one.where.name, 'bin'), { recursive: true });
    writeFileSync(path.join(one.where.folder, one.where.name, 'half'), '');
    const lock = path.join(one.where.folder, `${one.where.name}.lock`);
    writeFileSync(lock, 'elsewhere 1 token');
    utimesSync(lock, new Date(0), new Date(0));
    assert.ok(!isReady(one.where));
    await make(one.where, one.found, one.base, never, () => undefined);
    assert.ok(isReady(one.where) && !existsSync(path.join(one.where.folder, one.where.name, 'half')) && !existsSync(lock));
  }));

test('two windows make one', () =>
  bench({ pip: 'sleep 0.5' }, async (one) => {
    const steps: string[] = [];
    const both = [1, 2].map(() => make(one.where, one.found, one.base, never, (step) => steps.push(step)));
    await Promise.all(both);
    assert.deepEqual(steps.sort(), ['check', 'environment', 'packages', 'waiting']);
    assert.equal(one.calls().filter((line) => line.includes('-m venv')).length, 1);
  }));

test('other wheels are another environment; of the old ones the newest stays', () =>
  bench({}, async (one) => {
    for (const digest of ['1111111111', '2222222222', '3333333333']) {
      const found = { ...one.found, manifest: { ...FOUND.manifest, digest } };
      const where = home(one.where.folder, '0.1.0', found);
      assert.equal(hadOne(where), digest !== '1111111111');
      await make(where, found, one.base, never, () => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(readdirSync(one.where.folder).sort(), ['0.1.0-2222222222', '0.1.0-3333333333']);
  }));

test('wheels of another platform, or none, are no bundle', () =>
  bench({}, async ({ found }) => {
    const extension = path.dirname(found.wheels);
    assert.equal(bundle(extension), undefined);
    writeFileSync(path.join(found.wheels, 'manifest.json'), JSON.stringify({ ...FOUND.manifest, platform: 'plan9-mips' }));
    assert.equal(bundle(extension), undefined);
    assert.ok(serves(FOUND, '3.11.2') && !serves(FOUND, '3.9.1'));
    await Promise.resolve();
  }));
