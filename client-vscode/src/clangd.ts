// Offers, once, to let clangd understand an operator's kernels: without help it sees nothing but errors in them.
import * as vscode from 'vscode';
import { messageOf } from './log';
import type { Store } from './operators/store';

const CLANGD = 'llvm-vs-code-extensions.vscode-clangd';
const NEVER = 'clangd.never';

export function clangdOffer(context: vscode.ExtensionContext, store: Store): vscode.Disposable {
  const once = { offered: false };
  const look = async (editor: vscode.TextEditor | undefined): Promise<void> => {
    const uri = editor?.document.uri;
    const root = uri?.scheme === 'file' ? store.operators.find((one) => uri.toString().startsWith(`${one.root}/`))?.root : undefined;
    if (once.offered || !root || editor?.document.languageId !== 'cpp' || !vscode.workspace.isTrusted) {
      return;
    }
    if (context.globalState.get<boolean>(NEVER, false) || (await exists(root))) {
      return;
    }
    once.offered = true;
    await offer(context, root);
  };
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor((editor) => void look(editor)),
    store.onChanged(() => void look(vscode.window.activeTextEditor)),
  );
}

async function offer(context: vscode.ExtensionContext, root: string): Promise<void> {
  const there = vscode.extensions.getExtension(CLANGD) !== undefined;
  const never = vscode.l10n.t("Don't ask again");
  const act = there ? vscode.l10n.t('Set up clangd') : vscode.l10n.t('Look at clangd');
  const said = there
    ? vscode.l10n.t('clangd does not know this operator yet: it marks correct kernel code as wrong. opdev can tell it, also without CANN.')
    : vscode.l10n.t('With the clangd extension kernels can be navigated and completed; opdev sets it up, also without CANN.');
  const chosen = await vscode.window.showInformationMessage(said, act, never);
  if (chosen === never) {
    await context.globalState.update(NEVER, true);
  } else if (chosen === act && there) {
    try {
      await vscode.commands.executeCommand('opdev.clangd', { root });
    } catch (error) {
      void vscode.window.showErrorMessage(messageOf(error));
    }
  } else if (chosen === act) {
    await vscode.commands.executeCommand('workbench.extensions.search', CLANGD);
  }
}

/** Whether clangd has been told already, by opdev or by somebody else. */
async function exists(root: string): Promise<boolean> {
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
