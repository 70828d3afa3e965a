// The Python the managed environment is made with: one of this machine's, never one of the workspace.
import { existsSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Places } from './candidates';
import { pathCandidates } from './candidates';
import type { Bundle } from './managed';
import { serves } from './managed';
import { probe } from './probe';

export interface Base {
  readonly python: string;
  readonly version: string;
}

export interface Search {
  readonly base: Base | undefined;
  /** The interpreters that are there, and their versions. */
  readonly seen: readonly Base[];
}

/** The first interpreter on PATH that there are packages for; the usual names first, then those with a version. */
export async function findBase(places: Places, found: Bundle): Promise<Search> {
  const versions = [...found.manifest.pythons].reverse().map((version) => `python${version}${places.windows ? '.exe' : ''}`);
  const named = pathCandidates(places, versions);
  const seen: Base[] = [];
  for (const python of [...pathCandidates(places), ...named]) {
    if (path.isAbsolute(python) && !existsSync(python)) {
      continue;
    }
    const answer = await probe(python, os.tmpdir());
    if (!answer) {
      continue;
    }
    const base = { python, version: answer.python };
    seen.push(base);
    if (serves(found, answer.python)) {
      return { base, seen };
    }
  }
  return { base: undefined, seen };
}
