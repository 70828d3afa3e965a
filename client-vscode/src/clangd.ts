// clangd understands an operator's kernels only when it is told how: on demand, and offered once for each operator.
import * as vscode from 'vscode';
import { messageOf } from './log';
import type { Store } from './operators/store';
import type { ClangdResult } from './protocol';

const CLANGD = 'llvm-vs-code-extensions.vscode-clangd';
const NEVER = 'clangd.never';
const OFFERED = 'clangd.offered';
/** Notes that fit a message. */
const MOST = 3;
const KERNEL = /\.(?:cpp|cc|cxx|h|hpp|asc)$/;

export function clangdOffer(context: vscode.ExtensionContext, store: Store): vscode.Disposable {
  const look = async (editor: vscode.TextEditor | undefined): Promise<void> => {
    const uri = editor?.document.uri;
    const operator = uri?.scheme === 'file' ? store.operators.find((one) => uri.toString().startsWith(`${one.root}/`)) : undefined;
    if (!uri || !operator || !KERNEL.test(uri.path) || !vscode.workspace.isTrusted) {
      return;
    }
    const offered = context.workspaceState.get<string[]>(OFFERED, []);
    if (context.globalState.get<boolean>(NEVER, false) || offered.includes(operator.root) || (await told(operator.root))) {
      return;
    }
    // Before the answer: a message that is not answered was seen all the same.
    await context.workspaceState.update(OFFERED, [...offered, operator.root]);
    // Not waited for: other operators are asked about while this stands there.
    offer(context, operator.root, operator.name);
  };
  // One after the other: two looks at once would ask twice.
  let looking: Promise<void> = Promise.resolve();
  const next = (editor: vscode.TextEditor | undefined): void => {
    looking = looking.then(() => look(editor)).catch((error: unknown) => void vscode.window.showErrorMessage(messageOf(error)));
  };
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(next),
    store.onChanged(() => next(vscode.window.activeTextEditor)),
  );
}

function offer(context: vscode.ExtensionContext, root: string, name: string): void {
  const there = vscode.extensions.getExtension(CLANGD) !== undefined;
  const write = vscode.l10n.t('Set up clangd');
  const look = vscode.l10n.t('Look at clangd');
  const never = vscode.l10n.t("Don't ask again");
  const said = there
    ? vscode.l10n.t('clangd does not know {0} yet: it marks correct kernel code as wrong. opdev can tell it, also without CANN.', name)
    : vscode.l10n.t('With the clangd extension the kernels of {0} can be navigated and completed; opdev sets it up, also without CANN.', name);
  void vscode.window.showInformationMessage(said, write, ...(there ? [] : [look]), never).then(async (chosen) => {
    if (chosen === never) {
      await context.globalState.update(NEVER, true);
    } else if (chosen === write) {
      await setUpClangd(root);
    } else if (chosen === look) {
      await vscode.commands.executeCommand('workbench.extensions.search', CLANGD);
    }
  });
}

/** Writes what clangd needs, and says what was written and what was left as it is. */
export async function setUpClangd(root: string, overwrite = false): Promise<void> {
  try {
    const done = await vscode.commands.executeCommand<ClangdResult>('opdev.clangd', { root, ...(overwrite ? { overwrite } : {}) });
    const notes = [...done.kept, ...done.notes].slice(0, MOST).map((one) => one.text);
    if (done.kept.length) {
      const replace = vscode.l10n.t('Replace');
      if ((await vscode.window.showWarningMessage(notes.join(' '), replace)) === replace) {
        await setUpClangd(root, true);
      }
      return;
    }
    const said = vscode.l10n.t('clangd is set up; sources it knows: {0}.', done.files);
    void vscode.window.showInformationMessage([said, ...notes].join(' '));
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
  }
}

/** Whether clangd has been told already, by opdev or by somebody else. */
async function told(root: string): Promise<boolean> {
  const folder = vscode.Uri.parse(root);
  for (const name of ['compile_commands.json', '.clangd']) {
    try {
      await vscode.workspace.fs.stat(vscode.Uri.joinPath(folder, name));
      return true;
    } catch {
      // It is not there.
    }
  }
  return false;
}
