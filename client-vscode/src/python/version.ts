// Versions of Python and of opdev, and which of them this client can work with.

/** The oldest opdev whose server has every message this client sends. */
export const OLDEST_OPDEV = '0.1.0';
/** The oldest Python opdev runs on. */
export const OLDEST_PYTHON = '3.10';

/** Below zero when `one` is older; only the numbers in front count: `0.2.0rc1` is `0.2.0`. */
export function compare(one: string, other: string): number {
  const [mine, theirs] = [numbers(one), numbers(other)];
  for (let index = 0; index < Math.max(mine.length, theirs.length); index += 1) {
    const difference = (mine[index] ?? 0) - (theirs[index] ?? 0);
    if (difference) {
      return difference;
    }
  }
  return 0;
}

function numbers(version: string): number[] {
  return (/^\d+(?:\.\d+)*/.exec(version.trim())?.[0] ?? '').split('.').filter(Boolean).map(Number);
}

/** `3.11` of `3.11.7`. */
export function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
