// Which operator a command is about, when no line of the view says it.
import * as vscode from 'vscode';
import type { OperatorStatus } from '../protocol';
import type { Store } from './store';

/** Which operators a command is for. */
export type Fits = (one: OperatorStatus) => boolean;
export const ofShmem: Fits = (one) => one.workflow === 'shmem';
export const ofPypto: Fits = (one) => one.workflow !== 'shmem';
/** Those that can be run in simulation. */
export const verifiable: Fits = (one) => ofPypto(one) && one.phases.some((phase) => phase.runs);

/** The operator of the active editor, the only one, or the one the user picks; of those that fit. */
export async function chooseOperator(store: Store, fits: Fits = () => true): Promise<OperatorStatus | undefined> {
  // A window that has just opened knows none yet.
  const title = vscode.l10n.t('opdev looks for operators');
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () => store.settled());
  const active = vscode.window.activeTextEditor?.document.uri.toString() ?? '';
  const operators = store.operators.filter(fits);
  const here = operators.find((one) => active.startsWith(`${one.root}/`));
  if (here) {
    return here;
  }
  if (operators.length < 2) {
    const only = operators[0];
    if (!only) {
      const none = store.operators.length
        ? vscode.l10n.t('No operator of this workspace is one this command is for.')
        : vscode.l10n.t('There is no operator in this workspace yet.');
      void vscode.window.showInformationMessage(none);
    }
    return only;
  }
  const items = operators.map((status) => ({ label: status.name, description: status.next, status }));
  return (await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Which operator?') }))?.status;
}
