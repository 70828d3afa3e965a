// The server's process: started by us, so that one that hangs can be ended and how it ended can be said.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Found } from '../python/find';

export class ServerProcess {
  private child: ChildProcessWithoutNullStreams | undefined;
  private ended: string | undefined;

  constructor(private readonly found: Found) {}

  /** Rejects where the program cannot be started. */
  start(): Promise<ChildProcessWithoutNullStreams> {
    const { candidate, answer } = this.found;
    // Not in a group of its own: there it would outlive an editor that is killed; it watches its parent anyway.
    const child = spawn(candidate.python, [...answer.options, '-m', 'opdev.lsp', '--stdio'], {
      env: { ...process.env, PYTHONUTF8: '1' },
      windowsHide: true,
    });
    this.child = child;
    child.on('exit', (code, signal) => {
      this.ended = signal ?? `exit status ${code ?? '?'}`;
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => {
        child.on('error', () => undefined);
        resolve(child);
      });
    });
  }

  /** How it ended, as far as that is known by now; waits a moment for it. */
  async end(): Promise<string> {
    for (let left = 20; left > 0 && this.ended === undefined; left -= 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this.ended ?? '?';
  }

  kill(): void {
    if (this.ended === undefined) {
      this.child?.kill('SIGKILL');
    }
  }
}
