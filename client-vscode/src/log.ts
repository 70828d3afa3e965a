// The extension's log; the server's own goes to the same channel.
import * as vscode from 'vscode';

let channel: vscode.LogOutputChannel | undefined;

export function log(): vscode.LogOutputChannel {
  channel ??= enduring(vscode.window.createOutputChannel('opdev', { log: true }));
  return channel;
}

/**
 * The last one out: whatever an extension subscribed is disposed of while its server is still being stopped, and what
 * is said then, or by a request that was under way, has nowhere to go. VS Code's channel would throw.
 */
export function closeLog(): void {
  channel?.dispose();
}

function enduring(made: vscode.LogOutputChannel): vscode.LogOutputChannel {
  return new Proxy(made, {
    get(target, key): unknown {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') {
        return value;
      }
      return (...words: unknown[]): unknown => {
        try {
          return Reflect.apply(value, target, words) as unknown;
        } catch {
          // Closed, by us or, as the window went, by VS Code: nothing more can be said.
          return undefined;
        }
      };
    },
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
