// Optimisation rounds: opened, kept or taken back by a person, who is asked before anything is changed.
import * as vscode from 'vscode';
import { opdevDocument, opdevWithProgress } from '../cli';
import type { Named } from '../documents/operator';
import { of, rootOf, short } from '../documents/operator';
import { inLanguage } from '../language';
import { messageOf } from '../log';
import { ofShmem } from '../operators/choose';
import type { Store } from '../operators/store';
import type { Server } from '../server/server';

/** What `opdev rounds` says can be put back. */
interface States {
  states: { state: string; text: { zh: string; en: string } }[];
}

/** What replaces files keeps what was there: that can be put back as well. */
const REPLACES = new Set(['revert', 'restore']);

export function roundCommands(server: Server, store: Store): vscode.Disposable {
  const act = async (root: string, action: string, title: string, idea: readonly string[] = []): Promise<void> => {
    try {
      const ran = await opdevWithProgress(server, title, ['rounds', action, ...of(root), ...idea]);
      if (!ran) {
        return;
      }
      const text = short(ran.output, root);
      if (ran.status === 0) {
        void told(text, root, REPLACES.has(action));
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
      if (!idea?.trim()) {
        return;
      }
      const hypothesis = await vscode.window.showInputBox({
        title: vscode.l10n.t('Start an optimisation round'),
        prompt: vscode.l10n.t('The bottleneck it is meant to remove, for the performance report; may be left empty'),
      });
      if (hypothesis !== undefined) {
        // An idea may begin with a dash.
        const said = hypothesis.trim() ? [`--hypothesis=${hypothesis.trim()}`] : [];
        await act(root, 'start', vscode.l10n.t('Start an optimisation round'), [...said, '--', idea.trim()]);
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
        'All files of the operator become what they were when the round began; files it added are removed. What is there now is kept and can be put back.',
      );
      if (await sure(vscode.l10n.t('Take the open round back?'), detail, yes)) {
        await act(root, 'revert', yes);
      }
    },
    'opdev.rounds.restore': async (root) => {
      const chosen = await chooseState(server, root);
      const yes = vscode.l10n.t('Put it back');
      const detail = vscode.l10n.t(
        'All files of the operator become what they were then; files that were added since are removed. What is there now is kept and can be put back the same way.',
      );
      if (chosen && (await sure(vscode.l10n.t('Put this back: {0}?', chosen.label), detail, yes))) {
        await act(root, 'restore', yes, ['--', chosen.state]);
      }
    },
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, command]) =>
      vscode.commands.registerCommand(name, async (named: Named) => {
        const root = await rootOf(store, named, ofShmem);
        if (root) {
          await command(root).catch((error: unknown) => void vscode.window.showErrorMessage(messageOf(error)));
        }
      }),
    ),
  );
}

/** What was done, with the way back where there is one. */
async function told(text: string, root: string, back: boolean): Promise<void> {
  const other = vscode.l10n.t('Put something back…');
  const chosen = await vscode.window.showInformationMessage(text, ...(back ? [other] : []));
  if (chosen === other) {
    await vscode.commands.executeCommand('opdev.rounds.restore', root);
  }
}

async function chooseState(server: Server, root: string): Promise<{ label: string; state: string } | undefined> {
  const { states } = await opdevDocument<States>(server, ['rounds', ...of(root)]);
  if (!states.length) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No round has left a state that could be put back.'));
    return undefined;
  }
  const items = states.map(({ state, text }) => ({ label: inLanguage(text), description: state, state }));
  return vscode.window.showQuickPick(items, { title: vscode.l10n.t('Put back which state?'), matchOnDescription: true });
}

async function sure(question: string, detail: string, yes: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}
