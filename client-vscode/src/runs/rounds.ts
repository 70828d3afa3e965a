// Optimisation rounds: opened, kept or taken back by a person, who is asked before anything is changed.
import * as vscode from 'vscode';
import { opdevWithProgress } from '../cli';
import { of, rootOf, short } from '../documents/operator';
import { messageOf } from '../log';
import type { Node } from '../operators/nodes';
import type { Store } from '../operators/store';
import type { Server } from '../server/server';

export function roundCommands(server: Server, store: Store): vscode.Disposable {
  const act = async (root: string, action: string, title: string, idea: readonly string[] = []): Promise<void> => {
    try {
      const ran = await opdevWithProgress(server, title, ['rounds', action, ...of(root), ...idea]);
      if (!ran) {
        return;
      }
      const text = short(ran.output, root);
      if (ran.status === 0) {
        void vscode.window.showInformationMessage(text);
      } else {
        void vscode.window.showErrorMessage(text);
      }
      await store.refresh(root);
    } catch (error) {
      void vscode.window.showErrorMessage(messageOf(error));
    }
  };
  const commands: Record<string, (root: string) => Promise<void>> = {
    'opdev.rounds.start': async (root) => {
      const idea = await vscode.window.showInputBox({
        title: vscode.l10n.t('Start an optimisation round'),
        prompt: vscode.l10n.t('The one mechanism this round changes'),
        validateInput: (text) => (text.trim() ? undefined : vscode.l10n.t('A round is about one mechanism: name it.')),
      });
      if (idea?.trim()) {
        // An idea may begin with a dash.
        await act(root, 'start', vscode.l10n.t('Start an optimisation round'), ['--', idea.trim()]);
      }
    },
    'opdev.rounds.keep': async (root) => {
      const yes = vscode.l10n.t('Keep the round');
      const detail = vscode.l10n.t('What it changed becomes the state the next round is compared with.');
      if (await sure(vscode.l10n.t('Keep the open round?'), detail, yes)) {
        await act(root, 'keep', yes);
      }
    },
    'opdev.rounds.revert': async (root) => {
      const yes = vscode.l10n.t('Take the round back');
      const detail = vscode.l10n.t(
        'All files of the operator become what they were when the round began; files it added are removed. What is there now is kept and can be restored with opdev rounds restore.',
      );
      if (await sure(vscode.l10n.t('Take the open round back?'), detail, yes)) {
        await act(root, 'revert', yes);
      }
    },
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, command]) =>
      vscode.commands.registerCommand(name, async (node?: Node) => {
        const root = await rootOf(store, node);
        if (root) {
          await command(root);
        }
      }),
    ),
  );
}

async function sure(question: string, detail: string, yes: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}
