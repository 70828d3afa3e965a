// Which operator a command is about, when no line of the view says it.
import * as vscode from 'vscode';
import type { OperatorStatus } from '../protocol';
import type { Store } from './store';

/** The operator of the active editor, the only one, or the one the user picks. */
export async function chooseOperator(store: Store): Promise<OperatorStatus | undefined> {
  const active = vscode.window.activeTextEditor?.document.uri.toString() ?? '';
  const here = store.operators.find((one) => active.startsWith(`${one.root}/`));
  if (here) {
    return here;
  }
  if (store.operators.length < 2) {
    const only = store.operators[0];
    if (!only) {
      void vscode.window.showInformationMessage(vscode.l10n.t('There is no operator in this workspace yet.'));
    }
    return only;
  }
  const items = store.operators.map((status) => ({ label: status.name, description: status.next, status }));
  return (await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Which operator?') }))?.status;
}
