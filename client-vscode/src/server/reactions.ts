// What happens in the editor that may ask for another server.
import * as vscode from 'vscode';
import { log, messageOf } from '../log';
import type { Server } from './server';

/** Settings come letter by letter, and several at once. */
const SOON_MS = 300;

export function reactions(server: Server): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void server.refresh(), SOON_MS);
  };
  return vscode.Disposable.from(
    new vscode.Disposable(() => clearTimeout(timer)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void trusted(server)),
    vscode.workspace.onDidChangeWorkspaceFolders(soon),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('opdev.python')) {
        soon();
      }
    }),
  );
}

/** The server that runs is told; another one is started only where the workspace now says with what. */
async function trusted(server: Server): Promise<void> {
  try {
    await server.client?.sendNotification('opdev/didChangeTrust', { trusted: true });
  } catch (error) {
    log().warn(`opdev/didChangeTrust: ${messageOf(error)}`);
  }
  await server.refresh();
}
