// The operator a command is about, and how opdev is told which one it is.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Fits } from '../operators/choose';
import { chooseOperator } from '../operators/choose';
import type { Node } from '../operators/nodes';
import type { Store } from '../operators/store';

/** What a command may be given: a line of the view, an address, a path, what a lens says. */
export type Named = Node | string | { root: string } | undefined;

/** The operator's root: said by a line of the view, by a lens, or chosen. */
export async function rootOf(store: Store, named: Named, fits?: Fits): Promise<string | undefined> {
  if (typeof named === 'string') {
    return named.includes('://') ? named : vscode.Uri.file(named).toString();
  }
  return named && 'root' in named ? named.root : (await chooseOperator(store, fits))?.root;
}

/** `--op FOLDER`. */
export function of(root: string): string[] {
  return root ? ['--op', vscode.Uri.parse(root).fsPath] : [];
}

export function nameOf(store: Store, root: string): string {
  return store.operator(root)?.name ?? path.posix.basename(root);
}

/** What opdev printed, as a message: that has one line, and its paths are the operator's. */
export function short(said: string, root: string): string {
  return said.trim().replaceAll(`${vscode.Uri.parse(root).fsPath}/`, '').replaceAll(/\s*\n\s*/g, vscode.l10n.t('; '));
}
