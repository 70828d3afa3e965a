// Activation: the server, its state, and every feature, each in a file of its own.
import * as vscode from 'vscode';
import { assistantTools } from './assistant/tools';
import { clangdOffer } from './clangd';
import { registerCommands } from './commands';
import { documentCommands } from './documents/commands';
import { reportCommands } from './documents/reports';
import { closeLog, log } from './log';
import { newOperatorCommand } from './newOperator/newOperator';
import { updateCommand } from './newOperator/update';
import { Store } from './operators/store';
import { operatorsView } from './operators/tree';
import { panels } from './panels/panels';
import { managedFolder, places } from './places';
import { stateCommand } from './pypto/state';
import { bundle, home } from './python/managed';
import { Setup } from './python/setup';
import { registerRunCommands } from './runs/commands';
import { runLogs } from './runs/logs';
import { roundCommands } from './runs/rounds';
import { timeBudget } from './server/budget';
import { reactions } from './server/reactions';
import { Server } from './server/server';
import { tellTrouble } from './server/trouble';
import { statusItem } from './status';
import { testExplorer } from './testing/explorer';
import { walkthrough } from './walkthrough';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const began = performance.now();
  const found = bundle(context.extensionPath);
  const own = home(managedFolder(context), (context.extension.packageJSON as { version: string }).version, found);
  const made = new Server(() => places(own));
  server = made;
  const store = new Store(made);
  const setup = new Setup(made, own, found);
  context.subscriptions.push(
    made,
    statusItem(made),
    timeBudget(made),
    tellTrouble(made),
    made.onChanged((health) => setup.heard(health)),
    registerCommands(context, made, setup),
    store,
    operatorsView(store),
    runLogs(made, store),
    panels(context, made, store),
    registerRunCommands(made, store),
    testExplorer(made, store),
    newOperatorCommand(made, store),
    updateCommand(made, store),
    documentCommands(made, store),
    reportCommands(context, made, store),
    roundCommands(made, store),
    stateCommand(made, store),
    clangdOffer(context, store),
    assistantTools(made, store),
    walkthrough(store),
    reactions(made),
  );
  // Not waited for: the editor shows what an extension brings only once its activation has ended.
  void made.refresh();
  log().info(`activated in ${Math.round(performance.now() - began)} ms`);
}

export async function deactivate(): Promise<void> {
  // What is subscribed is disposed of meanwhile; the log is written until the server has ended.
  await server?.stop();
  closeLog();
}
