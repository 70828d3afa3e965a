// Writes the packages the extension carries into an environment. There is nothing to be resolved or built: what belongs
// together was chosen when the extension was packed, so this is reading a few packs and writing their files.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, constants } from 'node:zlib';

/** Files for some Pythons, as `tools/packs.py` lays them out. */
export interface Pack {
  readonly file: string;
  readonly pythons: readonly string[];
  readonly sha256: string;
}

/** A pack that is not what it was when the extension was packed. */
export class Damaged extends Error {}

const decompress = promisify(brotliDecompress);
/** Written at once; each waits for the disk, not for a processor. */
const TOGETHER = 32;

/** Writes all files for a Python (`3.11`) into `site`; rejects with Damaged, or with the signal's reason. */
export async function unpack(folder: string, packs: readonly Pack[], python: string, site: string, signal: AbortSignal): Promise<void> {
  for (const pack of packs.filter((one) => one.pythons.includes(python))) {
    signal.throwIfAborted();
    const packed = await readFile(path.join(folder, pack.file));
    if (createHash('sha256').update(packed).digest('hex') !== pack.sha256) {
      throw new Damaged(`${path.join(folder, pack.file)} is damaged; install the extension again`);
    }
    const files = contents(await decompress(packed, { params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 } }));
    for (const below of new Set(files.map((one) => path.dirname(one.path)))) {
      await mkdir(path.join(site, below), { recursive: true });
    }
    for (let at = 0; at < files.length; at += TOGETHER) {
      signal.throwIfAborted();
      await Promise.all(files.slice(at, at + TOGETHER).map((one) => writeFile(path.join(site, one.path), one.data)));
    }
  }
}

interface File {
  readonly path: string;
  readonly data: Buffer;
}

function contents(pack: Buffer): File[] {
  let at = 4 + pack.readUInt32BE(0);
  const listed = JSON.parse(pack.toString('utf8', 4, at)) as [string, number][];
  return listed.map(([name, size]) => {
    const data = pack.subarray(at, at + size);
    at += size;
    return { path: name, data };
  });
}

/** A program of an environment. Through sh: a `#!` line takes neither long paths nor spaces. */
export async function writeProgram(environment: string, name: string, calls: string): Promise<void> {
  const [module, attribute] = calls.split(':');
  const python = path.join(environment, 'bin', 'python').replaceAll("'", `'"'"'`);
  const text = [
    '#!/bin/sh',
    // To Python these two lines are a string.
    `'''exec' '${python}' "$0" "$@"`,
    "' '''",
    'import sys',
    `from ${module} import ${attribute}`,
    `sys.exit(${attribute}())`,
    '',
  ].join('\n');
  await writeFile(path.join(environment, 'bin', name), text, { mode: 0o755 });
}
