// Activation: the server, its state, and every feature, each in a file of its own.
import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { log } from './log';
import { Store } from './operators/store';
import { operatorsView } from './operators/tree';
import { panels } from './panels/panels';
import { places } from './places';
import { registerRunCommands } from './runs/commands';
import { runLogs } from './runs/logs';
import { Server } from './server/server';
import { statusItem } from './status';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const made = new Server(() => places(context));
  server = made;
  const store = new Store(made);
  context.subscriptions.push(
    log(),
    made,
    statusItem(made),
    registerCommands(context, made),
    store,
    operatorsView(store),
    runLogs(made, store),
    panels(context, made, store),
    registerRunCommands(made, store),
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
