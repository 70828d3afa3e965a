// Figures leave the editor as a file: the user says where.
import * as vscode from 'vscode';
import type { ToHost } from './messages';

/** Asks for the place, and writes; nothing when the user asks for none. */
export async function save(root: string, { name, text }: Extract<ToHost, { type: 'save' }>): Promise<void> {
  const ending = name.replace(/.*\./, '');
  const chosen = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(vscode.Uri.parse(root), name),
    filters: { [ending.toUpperCase()]: [ending] },
    title: vscode.l10n.t('Export'),
  });
  if (chosen) {
    await vscode.workspace.fs.writeFile(chosen, new TextEncoder().encode(text));
  }
}
