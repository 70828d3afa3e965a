// Tells the user when the server is left alone, with what they can do about it.
import * as vscode from 'vscode';
import { log } from '../log';
import type { Health, Server } from './server';

export function tellTrouble(server: Server): vscode.Disposable {
  let before: Health['kind'] = server.health.kind;
  return server.onChanged((health) => {
    const failed = health.kind === 'failed' && before !== 'failed';
    before = health.kind;
    if (failed) {
      void tell(server);
    }
  });
}

async function tell(server: Server): Promise<void> {
  const restart = vscode.l10n.t('Restart the server');
  const showLog = vscode.l10n.t('Show log');
  const collect = vscode.l10n.t('Collect debug information');
  const text = vscode.l10n.t('The opdev server ended four times within three minutes and is left alone now.');
  const chosen = await vscode.window.showErrorMessage(text, restart, showLog, collect);
  if (chosen === restart) {
    await server.restart();
  } else if (chosen === showLog) {
    log().show();
  } else if (chosen === collect) {
    await vscode.commands.executeCommand('opdev.debugInformation');
  }
}
