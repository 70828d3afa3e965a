// A PyPTO operator's state file, moved on by `opdev state`: it says which moves there are, and refuses what a gate does not allow.
import * as vscode from 'vscode';
import { opdevDocument, opdevWithProgress } from '../cli';
import type { Named } from '../documents/operator';
import { of, rootOf, short } from '../documents/operator';
import { inLanguage } from '../language';
import { messageOf } from '../log';
import { ofPypto } from '../operators/choose';
import type { Store } from '../operators/store';
import type { Server } from '../server/server';

interface Move {
  words: string[];
  text: { zh: string; en: string };
  /** The option that a person has to fill in. */
  asks: 'reason' | 'fusion' | null;
}

interface State {
  /** Missing where the file cannot be used; `why` says what is wrong then. */
  moves?: Move[];
  why?: { zh: string; en: string };
}

export function stateCommand(server: Server, store: Store): vscode.Disposable {
  return vscode.commands.registerCommand('opdev.state.move', async (named: Named) => {
    const root = await rootOf(store, named, ofPypto);
    if (root) {
      await move(server, store, root).catch((error: unknown) => void vscode.window.showErrorMessage(messageOf(error)));
    }
  });
}

async function move(server: Server, store: Store, root: string): Promise<void> {
  const { moves, why } = await opdevDocument<State>(server, ['state', 'show', ...of(root)]);
  if (!moves) {
    throw new Error(why ? inLanguage(why) : vscode.l10n.t('The state file cannot be used.'));
  }
  const items = moves.map((one) => ({ label: inLanguage(one.text), description: ['opdev state', ...one.words].join(' '), one }));
  const title = vscode.l10n.t('Which move?');
  const chosen = (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.one;
  const answer = chosen && (await asked(chosen));
  if (!chosen || !answer) {
    return;
  }
  const ran = await opdevWithProgress(server, inLanguage(chosen.text), ['state', ...chosen.words, ...answer, ...of(root)]);
  if (ran) {
    const said = short(ran.output, root);
    void (ran.status === 0 ? vscode.window.showInformationMessage(said) : vscode.window.showErrorMessage(said));
    await store.refresh(root);
  }
}

/** The words that what is asked for becomes; undefined when the user gave up. */
async function asked(one: Move): Promise<string[] | undefined> {
  if (one.asks === 'reason') {
    const reason = await vscode.window.showInputBox({
      title: inLanguage(one.text),
      prompt: vscode.l10n.t('Why?'),
      validateInput: (text) => (text.trim() ? undefined : vscode.l10n.t('The state file keeps the reason: write one.')),
    });
    // A reason may begin with a dash.
    return reason?.trim() ? [`--reason=${reason.trim()}`] : undefined;
  }
  if (one.asks === 'fusion') {
    const count = await vscode.window.showInputBox({
      title: inLanguage(one.text),
      prompt: vscode.l10n.t('How many modules?'),
      validateInput: (text) => (/^[1-9]\d{0,2}$/.test(text.trim()) ? undefined : vscode.l10n.t('A number from 1 on.')),
    });
    return count?.trim() ? ['--fusion', count.trim()] : undefined;
  }
  return [];
}
