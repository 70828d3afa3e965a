// Activation: the server, its state, and every feature, each in a file of its own.
import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { log } from './log';
import { places } from './places';
import { Server } from './server/server';
import { statusItem } from './status';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const made = new Server(() => places(context));
  server = made;
  context.subscriptions.push(
    log(),
    made,
    statusItem(made),
    registerCommands(context, made),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void made.refresh(true)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void made.refresh()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('opdev.python')) {
        void made.refresh();
      }
    }),
  );
  await made.refresh();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
