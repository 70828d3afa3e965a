// Environments as they are made: by a Python that obeys, so that every way it can go wrong is walked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { findBase } from '../src/python/base';
import type { Bundle, Home } from '../src/python/managed';
import { bundle, hadOne, home, isReady, make, NotMade, ownInterpreter, serves } from '../src/python/managed';

const FOUND: Bundle = {
  folder: '',
  manifest: { pythons: ['3.10', '3.11'], platform: 'linux-x86_64', digest: 'abcdefabcdefabcdef', programs: { opdev: 'opdev.entry:opdev' }, packs: [] },
};
const never = new AbortController().signal;
const VERSION = '3.11.7';

/** A python that writes what it is asked into `calls`; `-m venv` puts a copy of it where the environment's own is. */
const PYTHON = `#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "LOG"
case "$*" in
  *"-m venv"*) VENV; for last; do :; done
    mkdir -p "$last/bin" "$last/lib/python3.11/site-packages" && cp "$0" "$last/bin/python" ;;
  *"import opdev"*) CHECK ;;
  *"import numpy"*) NUMPY ;;
esac
`;

interface Bench {
  readonly where: Home;
  readonly base: { readonly python: string; readonly version: string };
  readonly found: Bundle;
  readonly calls: () => string[];
  readonly site: string;
}

/** Files for some Pythons, as tools/packs.py lays them out. */
function pack(folder: string, file: string, pythons: readonly string[], files: Record<string, string>) {
  const contents = Object.values(files).map((text) => Buffer.from(text));
  const listed = Buffer.from(JSON.stringify(Object.keys(files).map((name, at) => [name, contents[at]?.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(listed.length);
  const packed = brotliCompressSync(Buffer.concat([length, listed, ...contents]));
  writeFileSync(path.join(folder, file), packed);
  return { file, pythons, sha256: createHash('sha256').update(packed).digest('hex') };
}

async function bench(lines: { venv?: string; check?: string; numpy?: string }, use: (bench: Bench) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'opdev-'));
  try {
    const calls = path.join(folder, 'calls');
    const python = path.join(folder, 'python3');
    const text = PYTHON.replace('LOG', calls).replace('VENV', lines.venv ?? ':').replace('CHECK', lines.check ?? ':').replace('NUMPY', lines.numpy ?? ':');
    writeFileSync(python, text, { mode: 0o755 });
    const packs = path.join(folder, 'packs');
    mkdirSync(packs);
    const manifest = {
      ...FOUND.manifest,
      packs: [
        pack(packs, 'all.br', ['3.10', '3.11'], { 'opdev/__init__.py': '# 中文', 'opdev/empty.py': '', 'numpy/core.py': 'x', 'numpy.libs/a.so': 'y' }),
        pack(packs, '3.11.br', ['3.11'], { 'yaml/_yaml.so': 'for 3.11', 'numpy-2.dist-info/RECORD': '' }),
        pack(packs, '3.10.br', ['3.10'], { 'yaml/_yaml.so': 'for 3.10' }),
      ],
    };
    const found = { folder: packs, manifest };
    const where = home(path.join(folder, 'envs'), '0.1.0', found);
    await use({
      where,
      base: { python, version: VERSION },
      found,
      calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
      site: path.join(where.folder, where.name, 'lib/python3.11/site-packages'),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('an environment is made of the packs alone, and is ready only at the end', () =>
  bench({}, async ({ where, base, found, calls, site }) => {
    const steps: string[] = [];
    await make(where, found, base, never, (step) => {
      assert.ok(!isReady(where));
      steps.push(step);
    });
    assert.deepEqual(steps, ['environment', 'packages', 'check']);
    assert.ok(isReady(where));
    assert.ok(existsSync(ownInterpreter(where, false)));
    assert.deepEqual(calls().map((line) => /-m \w+|import \w+/.exec(line)?.[0]), ['-m venv', 'import opdev', '-m compileall', 'import numpy']);
    assert.equal(readFileSync(path.join(site, 'opdev/__init__.py'), 'utf8'), '# 中文');
    assert.equal(readFileSync(path.join(site, 'opdev/empty.py'), 'utf8'), '');
    assert.equal(readFileSync(path.join(site, 'yaml/_yaml.so'), 'utf8'), 'for 3.11');
    await make(where, found, base, never, () => assert.fail('it is there already'));
    assert.deepEqual(readdirSync(where.folder), [where.name]);
  }));

test('a Python that cannot make environments says so, and nothing is left', () =>
  bench({ venv: 'echo "The virtual environment was not created successfully because ensurepip is not available"; exit 1' }, async (one) => {
    await assert.rejects(make(one.where, one.found, one.base, never, () => undefined), (error) => error instanceof NotMade && error.why === 'no-venv');
    assert.ok(!isReady(one.where));
    assert.deepEqual(readdirSync(one.where.folder), []);
  }));

test('packages that do not run are a failure with what Python said', () =>
  bench({ check: 'echo "ImportError: GLIBC_2.17 not found" >&2; exit 1' }, async (one) => {
    await assert.rejects(
      make(one.where, one.found, one.base, never, () => undefined),
      (error) => error instanceof NotMade && error.why === 'failed' && error.output.includes('GLIBC_2.17'),
    );
    assert.deepEqual(readdirSync(one.where.folder), []);
  }));

test('a pack that is damaged is not written, and is named', () =>
  bench({}, async (one) => {
    const file = path.join(one.found.folder, '3.11.br');
    const bytes = readFileSync(file);
    bytes[bytes.length - 2] = (bytes[bytes.length - 2] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    await assert.rejects(
      make(one.where, one.found, one.base, never, () => undefined),
      (error) => error instanceof NotMade && error.message.includes('3.11.br is damaged'),
    );
    assert.deepEqual(readdirSync(one.where.folder), []);
  }));

test('where NumPy does not run the environment is one without it', () =>
  bench({ numpy: 'exit 1' }, async (one) => {
    await make(one.where, one.found, one.base, never, () => undefined);
    assert.ok(isReady(one.where));
    assert.deepEqual(readdirSync(one.site).sort(), ['opdev', 'yaml']);
  }));

test('cancelling ends what runs and leaves nothing', () =>
  bench({ check: 'sleep 600' }, async (one) => {
    const stop = new AbortController();
    const done = make(one.where, one.found, one.base, stop.signal, (step) => {
      if (step === 'check') {
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
  bench({ check: 'sleep 0.5' }, async (one) => {
    const steps: string[] = [];
    const both = [1, 2].map(() => make(one.where, one.found, one.base, never, (step) => steps.push(step)));
    await Promise.all(both);
    assert.deepEqual(steps.sort(), ['check', 'environment', 'packages', 'waiting']);
    assert.equal(one.calls().filter((line) => line.includes('-m venv')).length, 1);
  }));

test('other packages are another environment; of the old ones the newest stays', () =>
  bench({}, async (one) => {
    for (const digest of ['1111111111', '2222222222', '3333333333']) {
      const found = { ...one.found, manifest: { ...one.found.manifest, digest } };
      const where = home(one.where.folder, '0.1.0', found);
      assert.equal(hadOne(where), digest !== '1111111111');
      await make(where, found, one.base, never, () => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(readdirSync(one.where.folder).sort(), ['0.1.0-2222222222', '0.1.0-3333333333']);
  }));

test('packages of another platform, or none, are no bundle', () =>
  bench({}, async ({ found }) => {
    const extension = path.dirname(found.folder);
    assert.equal(bundle(extension), undefined);
    writeFileSync(path.join(found.folder, 'manifest.json'), JSON.stringify({ ...FOUND.manifest, platform: 'plan9-mips' }));
    assert.equal(bundle(extension), undefined);
    assert.ok(serves(FOUND, '3.11.2') && !serves(FOUND, '3.9.1'));
    await Promise.resolve();
  }));

// Those of this machine; where pyenv has more, these too.
const pyenv = path.join(homedir(), '.pyenv/versions');
const pythons = [
  ...(process.env.PATH ?? '').split(path.delimiter),
  ...(existsSync(pyenv) ? readdirSync(pyenv).map((name) => path.join(pyenv, name, 'bin')) : []),
];

for (const version of bundle('.')?.manifest.pythons ?? []) {
  test(`what the extension carries runs with Python ${version}, with nothing of the network`, async (context) => {
    // Read anew: who builds the extension meanwhile packs anew.
    const real = bundle('.');
    assert.ok(real);
    const places = { setting: '', folders: [], path: pythons, managed: null, trusted: true, windows: false };
    const only = { ...real, manifest: { ...real.manifest, pythons: [version] } };
    const { base } = await findBase(places, only);
    if (!base) {
      context.skip(`Python ${version} is not here`);
      return;
    }
    const folder = mkdtempSync(path.join(tmpdir(), "o'pdev é "));
    try {
      const where = home(folder, '0.1.0', real);
      await make(where, real, base, never, () => undefined);
      const environment = path.join(folder, where.name);
      const run = (name: string, ...words: string[]): string =>
        execFileSync(path.join(environment, 'bin', name), words, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin', HOME: folder, PYTHONDONTWRITEBYTECODE: '1' } });
      assert.match(run('opdev', '--version'), /\d+\.\d+\.\d+/);
      // What scripts of operators do with it.
      const asked = 'import numpy as np; a = np.random.default_rng(1).standard_normal(8).astype(np.float16); np.testing.assert_allclose(a, a); np.linalg.inv(np.eye(3)); np.fft.fft(a); print(np.__version__)';
      assert.match(run('python', '-I', '-c', asked), /^2\./);
      assert.match(run('python', '-I', '-c', "import importlib.metadata as m; print(sorted(d.name for d in m.distributions() if not all(f.locate().exists() for f in d.files or [])))"), /^\[\]/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
