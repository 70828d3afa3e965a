// Commands that concern the extension itself.
import * as vscode from 'vscode';
import { debugInformation } from './debugInformation';
import { log } from './log';
import type { Setup } from './python/setup';
import type { Server } from './server/server';

export function registerCommands(context: vscode.ExtensionContext, server: Server, setup: Setup): vscode.Disposable {
  const commands: Record<string, () => unknown> = {
    'opdev.restart': () => server.restart(),
    'opdev.showLog': () => log().show(),
    'opdev.choosePython': choosePython,
    'opdev.setUp': () => setup.make(),
    'opdev.debugInformation': () => debugInformation(context, server),
    'opdev.fixAll': fixAll,
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)),
  );
}

async function choosePython(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    canSelectMany: false,
    title: vscode.l10n.t('Choose the Python that has opdev'),
    openLabel: vscode.l10n.t('Use this Python'),
  });
  const file = chosen?.[0];
  if (file) {
    await vscode.workspace.getConfiguration('opdev').update('python', file.fsPath, vscode.ConfigurationTarget.Global);
  }
}

async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand('editor.action.codeAction', { kind: 'source.fixAll.opdev', apply: 'first' });
}
