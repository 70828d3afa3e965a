// opdev's own commands, for what a person asks for now and then: the same program as in a terminal and in CI.
import * as os from 'node:os';
import * as vscode from 'vscode';
import { language } from './language';
import type { Ran } from './python/program';
import { program } from './python/program';
import type { Server } from './server/server';

/** `opdev WORDS…`, run by the server's interpreter; rejects where there is none. */
export async function opdev(server: Server, words: readonly string[], signal?: AbortSignal): Promise<Ran> {
  const { health } = server;
  if (health.kind !== 'running') {
    throw new Error(vscode.l10n.t('The server is not running.'));
  }
  const { candidate, answer } = health.found;
  // What follows `--` is no option, whatever it looks like.
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const spoken = [...words.slice(0, end), '--lang', language(), ...words.slice(end)];
  return program(candidate.python, [...answer.options, '-m', 'opdev.cli', ...spoken], {
    // Not in the workspace: what lies there must not decide what is imported.
    cwd: os.tmpdir(),
    env: { ...process.env, PYTHONUTF8: '1' },
    signal: signal ?? new AbortController().signal,
  });
}

/** The document that `opdev WORDS… --format json` prints; rejects with what opdev said where it printed none. */
export async function opdevDocument<T>(server: Server, words: readonly string[]): Promise<T> {
  const ran = await opdev(server, [...words, '--format', 'json']);
  try {
    return JSON.parse(ran.out) as T;
  } catch {
    throw new Error(ran.output.trim());
  }
}

/** The same with a progress that can be cancelled; undefined when it was. */
export async function opdevWithProgress(server: Server, title: string, words: readonly string[]): Promise<Ran | undefined> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (_, token) => {
    const abort = new AbortController();
    const listening = token.onCancellationRequested(() => abort.abort());
    try {
      return await opdev(server, words, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) {
        return undefined;
      }
      throw error;
    } finally {
      listening.dispose();
    }
  });
}
