// Runs a program to its end, in a group of its own, so that nothing of it stays when the user changes their mind.
import { spawn } from 'node:child_process';

export interface Ran {
  /** Null: it was ended by a signal, or could not be started. */
  readonly status: number | null;
  /** Both streams as they came, the end of them where that is very much. */
  readonly output: string;
  /** Standard output alone, for whoever reads a document; its end where it is beyond all bounds. */
  readonly out: string;
}

export interface Options {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const MOST = 100_000;
const MOST_OUT = 8_000_000;

/** Never rejects but for an abort: then with the signal's reason, when the program has ended. */
export function program(file: string, words: readonly string[], options: Options): Promise<Ran> {
  const { signal, cwd, env } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(reason(signal));
      return;
    }
    const group = process.platform !== 'win32';
    const child = spawn(file, words, { cwd, env, detached: group, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let out = '';
    const hear = (text: string): void => {
      output = (output + text).slice(-MOST);
    };
    const stop = (): void => {
      try {
        if (group && child.pid !== undefined) {
          process.kill(-child.pid, 'SIGKILL');
        } else {
          child.kill('SIGKILL');
        }
      } catch {
        // It has ended already.
      }
    };
    const end = (ran: Ran): void => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) {
        reject(reason(signal));
      } else {
        resolve(ran);
      }
    };
    for (const stream of [child.stdout, child.stderr]) {
      // A character may come in two pieces.
      stream.setEncoding('utf8').on('data', hear);
    }
    child.stdout.on('data', (text: string) => {
      out = (out + text).slice(-MOST_OUT);
    });
    child.on('error', (error) => end({ status: null, output: output + error.message, out }));
    child.on('close', (status) => end({ status, output, out }));
    signal.addEventListener('abort', stop);
  });
}

function reason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}
