// The extension's log; the server's own goes to the same channel.
import * as vscode from 'vscode';

let channel: vscode.LogOutputChannel | undefined;

export function log(): vscode.LogOutputChannel {
  channel ??= vscode.window.createOutputChannel('opdev', { log: true });
  return channel;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
