// Which Python interpreters may have opdev, in the order they are tried.
import * as path from 'node:path';

export type Origin = 'setting' | 'workspace' | 'path' | 'managed';

export interface Candidate {
  readonly python: string;
  readonly origin: Origin;
}

export interface Places {
  /** `opdev.python`, as the user typed it; empty when not set. */
  readonly setting: string;
  /** Workspace folders, in their order. */
  readonly folders: readonly string[];
  /** Folders of `PATH`. */
  readonly path: readonly string[];
  /** The interpreter of the environment the extension made for itself; null while it has none. */
  readonly managed: string | null;
  /** Whether the workspace may name programs to run. */
  readonly trusted: boolean;
  readonly windows: boolean;
}

const ENVIRONMENTS = ['.venv', 'venv', 'env'];

/**
 * All candidates. A set `opdev.python` is the only one: running another than the user named would hide that theirs
 * does not work. In a workspace nobody trusts, its environments are left out: they may hold any program.
 */
export function candidates(places: Places): Candidate[] {
  const setting = places.setting.trim();
  if (setting) {
    return [{ python: resolve(setting, places), origin: 'setting' }];
  }
  const inside = places.trusted
    ? places.folders.flatMap((folder) => ENVIRONMENTS.map((name) => interpreter(path.join(folder, name), places.windows)))
    : [];
  return [
    ...inside.map((python): Candidate => ({ python, origin: 'workspace' })),
    ...pathCandidates(places).map((python): Candidate => ({ python, origin: 'path' })),
    ...(places.managed === null ? [] : [{ python: places.managed, origin: 'managed' } as const]),
  ];
}

/** Interpreters on PATH by these names. Folders of a workspace nobody trusts are left out, and relative ones always. */
export function pathCandidates(places: Places, names?: readonly string[]): string[] {
  const wanted = names ?? (places.windows ? ['python.exe', 'python3.exe'] : ['python3', 'python']);
  const outside = places.path
    .filter((folder) => path.isAbsolute(folder) && (places.trusted || !isBelow(folder, places.folders)))
    .flatMap((folder) => wanted.map((name) => path.join(folder, name)));
  return [...new Set(outside)];
}

/** The interpreter of an environment. */
export function interpreter(environment: string, windows: boolean): string {
  return windows ? path.join(environment, 'Scripts', 'python.exe') : path.join(environment, 'bin', 'python');
}

/** `~`, `${workspaceFolder}` and paths relative to the first folder, as users write them. */
function resolve(setting: string, places: Places): string {
  const folder = places.folders[0] ?? '';
  const text = setting.replaceAll('${workspaceFolder}', folder).replace(/^~(?=[/\\]|$)/, process.env.HOME ?? '~');
  return path.isAbsolute(text) || !/[/\\]/.test(text) ? text : path.join(folder, text);
}

function isBelow(folder: string, parents: readonly string[]): boolean {
  return parents.some((parent) => {
    const inside = path.relative(parent, folder);
    return !inside.startsWith('..') && !path.isAbsolute(inside);
  });
}
