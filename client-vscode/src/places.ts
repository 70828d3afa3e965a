// Where an interpreter may be, as the editor knows it.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Places } from './python/candidates';
import { interpreter } from './python/candidates';

/** The environment the extension makes for itself. */
export function managedEnvironment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'python');
}

export function places(context: vscode.ExtensionContext): Places {
  const windows = process.platform === 'win32';
  return {
    setting: vscode.workspace.getConfiguration('opdev').get('python', ''),
    folders: (vscode.workspace.workspaceFolders ?? [])
      .filter((folder) => folder.uri.scheme === 'file')
      .map((folder) => folder.uri.fsPath),
    path: (process.env.PATH ?? '').split(path.delimiter).filter(Boolean),
    managed: interpreter(managedEnvironment(context), windows),
    trusted: vscode.workspace.isTrusted,
    windows,
  };
}
