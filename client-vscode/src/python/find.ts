// The interpreter the server runs with: the first candidate that has an opdev this client can talk to.
import { existsSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Candidate, Places } from './candidates';
import { candidates } from './candidates';
import type { Answer } from './probe';
import { probe } from './probe';
import { compare, OLDEST_OPDEV } from './version';

export interface Tried {
  readonly candidate: Candidate;
  /** Null: it does not run. */
  readonly answer: Answer | null;
}

export interface Found {
  readonly candidate: Candidate;
  readonly answer: Answer;
  readonly tried: readonly Tried[];
}

export interface NotFound {
  readonly candidate: null;
  readonly tried: readonly Tried[];
}

/** Looks through the candidates in their order; those that are not there are not tried. */
export async function find(places: Places): Promise<Found | NotFound> {
  const tried: Tried[] = [];
  for (const candidate of candidates(places)) {
    if (path.isAbsolute(candidate.python) && !existsSync(candidate.python)) {
      if (candidate.origin === 'setting') {
        tried.push({ candidate, answer: null });
      }
      continue;
    }
    // Not in the workspace: a folder nobody trusts must not decide what is imported.
    const answer = await probe(candidate.python, os.tmpdir());
    tried.push({ candidate, answer });
    if (answer?.opdev && compare(answer.opdev, OLDEST_OPDEV) >= 0) {
      return { candidate, answer, tried };
    }
  }
  return { candidate: null, tried };
}

/** What two answers must have in common for a running server to stay: the environment, by whatever name it was found. */
export function sameServer(one: Found, other: Found): boolean {
  return (
    one.answer.prefix === other.answer.prefix &&
    one.answer.python === other.answer.python &&
    one.answer.opdev === other.answer.opdev &&
    one.answer.options.join(' ') === other.answer.options.join(' ')
  );
}
