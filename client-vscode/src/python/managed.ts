// The environment the extension makes for itself, from the packages it carries: no network, and nothing of the workspace.
//
// It lies in a folder of its own for each set of packages, and counts only when `ready.json` is in it, which is written
// last and at once: a half-made one is never used. It is built where it stays, since an environment that is moved
// has scripts that name the old place; windows that want it at the same time wait for the one that makes it.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Base } from './base';
import { interpreter } from './candidates';
import type { Ran } from './program';
import { program } from './program';
import type { Pack } from './unpack';
import { Damaged, unpack, writeProgram } from './unpack';
import { minor } from './version';

/** What the extension carries. */
export interface Manifest {
  /** Minor versions of Python there are packages for, the oldest first. */
  readonly pythons: readonly string[];
  /** `linux-x86_64`. */
  readonly platform: string;
  readonly digest: string;
  /** Programs, and what they call: `opdev.entry:opdev`. */
  readonly programs: Readonly<Record<string, string>>;
  readonly packs: readonly Pack[];
}

export interface Bundle {
  /** The folder with the packs. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Where environments lie, and the one this extension wants. */
export interface Home {
  readonly folder: string;
  readonly name: string;
}

export type Step = 'waiting' | 'environment' | 'packages' | 'check';

/** Why there is no environment; `output` is what the program that failed said. */
export class NotMade extends Error {
  constructor(
    readonly why: 'no-venv' | 'failed' | 'cancelled',
    message: string,
    readonly output = '',
  ) {
    super(message);
  }
}

const READY = 'ready.json';
const STALE_MS = 90_000;
const BEAT_MS = 10_000;
const AGAIN_MS = 250;

/** The packages below the extension's folder; undefined where it has none, or for another platform. */
export function bundle(extension: string): Bundle | undefined {
  const folder = path.join(extension, 'packs');
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as Manifest;
    return manifest.platform === platformHere() ? { folder, manifest } : undefined;
  } catch {
    return undefined;
  }
}

function platformHere(): string {
  const machine = process.arch === 'x64' ? 'x86_64' : process.arch === 'arm64' ? 'aarch64' : process.arch;
  return `${process.platform}-${machine}`;
}

/** Another version of the extension, or other packages, mean another environment. */
export function home(folder: string, version: string, found: Bundle | undefined): Home {
  return { folder, name: found ? `${version}-${found.manifest.digest.slice(0, 10)}` : version };
}

/** The interpreter this extension would use; there only when the environment is complete. */
export function ownInterpreter(where: Home, windows: boolean): string {
  return interpreter(path.join(where.folder, where.name), windows);
}

export function isReady(where: Home): boolean {
  return existsSync(path.join(where.folder, where.name, READY));
}

/** Whether an earlier version of the extension made one: then nobody has to be asked again. */
export function hadOne(where: Home): boolean {
  return others(where).some((name) => existsSync(path.join(where.folder, name, READY)));
}

function others(where: Home): string[] {
  try {
    return readdirSync(where.folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== where.name)
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/**
 * Makes the environment with the interpreter `base`, unless it is there when its turn comes. Rejects with NotMade;
 * what was begun is taken away.
 */
export async function make(
  where: Home,
  found: Bundle,
  base: Base,
  signal: AbortSignal,
  step: (now: Step) => void,
): Promise<void> {
  await mkdir(where.folder, { recursive: true });
  const unlock = await lock(path.join(where.folder, `${where.name}.lock`), signal, () => step('waiting'), () => isReady(where));
  if (!unlock) {
    return;
  }
  const environment = path.join(where.folder, where.name);
  try {
    if (isReady(where)) {
      return;
    }
    await rm(environment, { recursive: true, force: true });
    await build(environment, found, base, signal, step);
  } catch (error) {
    await rm(environment, { recursive: true, force: true });
    throw error;
  } finally {
    await unlock();
  }
  await sweep(where);
}

async function build(
  environment: string,
  found: Bundle,
  base: Base,
  signal: AbortSignal,
  step: (now: Step) => void,
): Promise<void> {
  const run = (python: string, words: readonly string[]): Promise<Ran> =>
    program(python, words, { cwd: os.tmpdir(), env: clean(process.env), signal });
  step('environment');
  // Without pip: Debian's Python cannot install it, and nothing is left for it to do.
  const made = await run(base.python, ['-I', '-m', 'venv', '--without-pip', environment]);
  if (made.status !== 0) {
    const venv = /No module named '?(?:venv|ensurepip)|ensurepip is not|python3[\d.]*-venv/.test(made.output);
    throw new NotMade(venv ? 'no-venv' : 'failed', `${base.python} -m venv`, made.output);
  }
  step('packages');
  const site = await packages(environment);
  await unpack(found.folder, found.manifest.packs, minor(base.version), site, signal).catch((error: unknown) => {
    throw error instanceof Damaged ? new NotMade('failed', error.message) : error;
  });
  for (const [name, calls] of Object.entries(found.manifest.programs)) {
    await writeProgram(environment, name, calls);
  }
  step('check');
  const python = interpreter(environment, process.platform === 'win32');
  const checked = await run(python, ['-I', '-c', 'import opdev.lsp.server, opdev.syntax.file, pydantic, yaml, jinja2']);
  if (checked.status !== 0) {
    throw new NotMade('failed', 'import opdev.lsp.server', checked.output);
  }
  // Where Python keeps no bytecode, as in many containers, every start would compile all of it anew.
  await run(python, ['-I', '-m', 'compileall', '-q', path.join(site, 'opdev')]);
  // Scripts and precision need it; where it does not run all else is there, and both say what is missing.
  if ((await run(python, ['-I', '-c', 'import numpy'])).status !== 0) {
    const parts = (await readdir(site)).filter((name) => /^numpy(?:$|\.|-)/.test(name));
    await Promise.all(parts.map((name) => rm(path.join(site, name), { recursive: true })));
  }
  const draft = path.join(environment, `${READY}.${randomUUID()}`);
  await writeFile(draft, JSON.stringify({ base: base.python, made: new Date().toISOString() }));
  await rename(draft, path.join(environment, READY));
}

/** Where an environment has its packages: `lib/python3.11/site-packages`. */
async function packages(environment: string): Promise<string> {
  const names = existsSync(path.join(environment, 'lib')) ? await readdir(path.join(environment, 'lib')) : [];
  const site = names.map((name) => path.join(environment, 'lib', name, 'site-packages')).find((one) => existsSync(one));
  if (site === undefined) {
    throw new NotMade('failed', `${environment} has no site-packages`);
  }
  return site;
}

/** The environment of the programs: nothing that would lead Python elsewhere. */
function clean(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(?:PYTHON|VIRTUAL_ENV|__PYVENV)/i.test(name));
  return { ...Object.fromEntries(kept), PYTHONUTF8: '1' };
}

/**
 * Waits until nobody else makes it. Undefined when another has made it meanwhile. Who holds the lock touches it; one
 * that nobody touched for a while belongs to somebody who is gone.
 */
async function lock(
  file: string,
  signal: AbortSignal,
  waiting: () => void,
  done: () => boolean,
): Promise<(() => Promise<void>) | undefined> {
  for (let told = false; ; ) {
    if (signal.aborted) {
      throw new NotMade('cancelled', 'cancelled');
    }
    try {
      const mine = `${os.hostname()} ${process.pid} ${randomUUID()}`;
      const handle = await open(file, 'wx');
      await handle.writeFile(mine);
      await handle.close();
      const beat = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => undefined), BEAT_MS);
      return async () => {
        clearInterval(beat);
        if ((await readFile(file, 'utf8').catch(() => '')) === mine) {
          await rm(file, { force: true });
        }
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
    if (done()) {
      return undefined;
    }
    if (await abandoned(file)) {
      await takeAway(file);
      continue;
    }
    if (!told) {
      told = true;
      waiting();
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Moved first: of several that want it gone one does it, and a lock that is new meanwhile is not lost for long. */
async function takeAway(file: string): Promise<void> {
  const old = `${file}.${randomUUID()}`;
  try {
    await rename(file, old);
    await rm(old, { force: true });
  } catch {
    // Another did.
  }
}

async function abandoned(file: string): Promise<boolean> {
  try {
    const [host, pid] = (await readFile(file, 'utf8')).split(' ');
    if (host === os.hostname() && pid && !alive(Number(pid))) {
      return true;
    }
    return Date.now() - (await stat(file)).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes environments of earlier versions but the newest: a window that was not reloaded yet may still run in it. */
async function sweep(where: Home): Promise<void> {
  const aged = await Promise.all(
    others(where).map(async (name) => ({ name, at: (await stat(path.join(where.folder, name))).mtimeMs })),
  );
  for (const { name } of aged.sort((a, b) => b.at - a.at).slice(1)) {
    if (!existsSync(path.join(where.folder, `${name}.lock`))) {
      await rm(path.join(where.folder, name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

/** Whether there are packages for a Python that says it is `version`. */
export function serves(found: Bundle, version: string): boolean {
  return found.manifest.pythons.includes(minor(version));
}
