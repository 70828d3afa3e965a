// Asks an interpreter whether it has opdev, in a child process that is given little time.
import { execFile } from 'node:child_process';

export interface Answer {
  /** `3.11.7`. */
  readonly python: string;
  /** opdev's version; null where it is not installed. */
  readonly opdev: string | null;
  /** The environment it belongs to: two names of one interpreter have the same. */
  readonly prefix: string;
  /** Options to start it with: isolated where that works. */
  readonly options: readonly string[];
}

const ASK = [
  'import json, sys',
  'try:',
  '    from importlib.metadata import version',
  '    import importlib.util',
  "    found = version('opdev') if importlib.util.find_spec('opdev') else None",
  'except Exception:',
  '    found = None',
  "print(json.dumps({'python': '.'.join(map(str, sys.version_info[:3])), 'opdev': found, 'prefix': sys.prefix}))",
].join('\n');
const PATIENCE_MS = 10_000;

/** What the interpreter says; null where it does not run. Never rejects. */
export async function probe(python: string, cwd: string): Promise<Answer | null> {
  // Isolated first: then nothing of PYTHONPATH or the folder is looked at. A user's own site needs the second way.
  const isolated = await ask(python, ['-I'], cwd);
  if (!isolated || isolated.opdev) {
    return isolated;
  }
  const plain = await ask(python, [], cwd);
  return plain?.opdev ? plain : isolated;
}

function ask(python: string, options: readonly string[], cwd: string): Promise<Answer | null> {
  return new Promise((resolve) => {
    execFile(python, [...options, '-c', ASK], { cwd, timeout: PATIENCE_MS, windowsHide: true }, (error, stdout) => {
      resolve(error ? null : read(stdout, options));
    });
  });
}

/** The answer in a program's output; null for anything else. */
export function read(stdout: string, options: readonly string[]): Answer | null {
  const line = stdout.trim().split('\n').at(-1) ?? '';
  try {
    const said: unknown = JSON.parse(line);
    if (typeof said !== 'object' || said === null || !('python' in said) || typeof said.python !== 'string') {
      return null;
    }
    const opdev = 'opdev' in said && typeof said.opdev === 'string' ? said.opdev : null;
    const prefix = 'prefix' in said && typeof said.prefix === 'string' ? said.prefix : '';
    return { python: said.python, opdev, prefix, options };
  } catch {
    return null;
  }
}
