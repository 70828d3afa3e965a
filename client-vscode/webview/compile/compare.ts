// What is new among the errors of a run, and what is gone, compared with another run.
import type { Found } from './model';

export interface Changes {
  fresh: ReadonlySet<Found>;
  gone: readonly Found[];
}

/** Lines move with every edit: the same words in the same file are the same error, as often as they are there. */
export function changes(now: readonly Found[], before: readonly Found[]): Changes {
  const left = new Map<string, Found[]>();
  for (const one of before) {
    const key = keyOf(one);
    left.set(key, [...(left.get(key) ?? []), one]);
  }
  const fresh = new Set<Found>();
  for (const one of now) {
    if (!left.get(keyOf(one))?.shift()) {
      fresh.add(one);
    }
  }
  return { fresh, gone: [...left.values()].flat() };
}

function keyOf({ severity, path, message }: Found): string {
  return JSON.stringify([severity, path, message]);
}
