// Newer templates merged into an operator that was made from them: shown first, done when the user says so.
import * as vscode from 'vscode';
import { opdevWithProgress } from '../cli';
import { nameOf, of, rootOf, short } from '../documents/operator';
import type { Named } from '../documents/operator';
import { messageOf } from '../log';
import { ofShmem } from '../operators/choose';
import type { Store } from '../operators/store';
import type { Server } from '../server/server';

export function updateCommand(server: Server, store: Store): vscode.Disposable {
  return vscode.commands.registerCommand('opdev.update', async (named: Named) => {
    const root = await rootOf(store, named, ofShmem);
    if (root) {
      await update(server, store, root).catch((error: unknown) => void vscode.window.showErrorMessage(messageOf(error)));
    }
  });
}

async function update(server: Server, store: Store, root: string): Promise<void> {
  const title = vscode.l10n.t('Comparing with the templates');
  const would = await opdevWithProgress(server, title, ['update', '--dry-run', ...of(root)]);
  if (!would) {
    return;
  }
  if (!would.out.trim()) {
    // What opdev refuses it says on the other stream.
    const said = short(would.output, root).replace(/^opdev update: /, '');
    throw new Error(said.replaceAll(vscode.Uri.parse(root).fsPath, nameOf(store, root)));
  }
  const yes = vscode.l10n.t('Update');
  const detail = would.out.trim().replaceAll(`${vscode.Uri.parse(root).fsPath}/`, '');
  if ((await vscode.window.showInformationMessage(vscode.l10n.t('Update this operator from the templates?'), { modal: true, detail }, yes)) !== yes) {
    return;
  }
  const ran = await opdevWithProgress(server, vscode.l10n.t('Updating from the templates'), ['update', ...of(root)]);
  if (ran) {
    const said = short(ran.output, root);
    void (ran.status === 0 ? vscode.window.showInformationMessage(said) : vscode.window.showWarningMessage(said));
    await store.refresh(root);
  }
}
