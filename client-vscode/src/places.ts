// Where an interpreter may be, as the editor knows it.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Places } from './python/candidates';
import type { Home } from './python/managed';
import { isReady, ownInterpreter } from './python/managed';

/** Where the extension makes environments for itself. */
export function managedFolder(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'python');
}

export function places(own: Home): Places {
  const windows = process.platform === 'win32';
  return {
    setting: vscode.workspace.getConfiguration('opdev').get('python', ''),
    folders: (vscode.workspace.workspaceFolders ?? [])
      .filter((folder) => folder.uri.scheme === 'file')
      .map((folder) => folder.uri.fsPath),
    path: (process.env.PATH ?? '').split(path.delimiter).filter(Boolean),
    managed: isReady(own) ? ownInterpreter(own, windows) : null,
    trusted: vscode.workspace.isTrusted,
    windows,
  };
}
