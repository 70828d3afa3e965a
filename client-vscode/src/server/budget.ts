// How long the findings of the file in front took, beside the state of the server; too long shows by itself.
import * as vscode from 'vscode';
import { SELECTOR } from '../status';
import type { Server } from './server';

/** From here on typing feels it; the second is where something is wrong. */
const WARN_MS = 500;
const ERROR_MS = 3_000;
const KEPT = 200;

export function timeBudget(server: Server): vscode.Disposable {
  const took = new Map<string, number>();
  const item = vscode.languages.createLanguageStatusItem('opdev.time', SELECTOR);
  item.name = vscode.l10n.t('opdev: time of a check');
  item.command = { command: 'opdev.showLog', title: vscode.l10n.t('Show log') };
  const show = (): void => {
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    const milliseconds = uri === undefined ? undefined : took.get(uri);
    const { Information, Warning, Error } = vscode.LanguageStatusSeverity;
    item.severity = milliseconds === undefined || milliseconds < WARN_MS ? Information : milliseconds < ERROR_MS ? Warning : Error;
    item.text = milliseconds === undefined ? vscode.l10n.t('not checked yet') : vscode.l10n.t('checked in {0} ms', Math.round(milliseconds));
    item.detail = item.severity === Information ? '' : vscode.l10n.t('slower than {0} ms', WARN_MS);
  };
  show();
  return vscode.Disposable.from(
    item,
    vscode.window.onDidChangeActiveTextEditor(show),
    server.onTimed(({ uri, milliseconds }) => {
      const key = uri.toString();
      took.delete(key);
      took.set(key, milliseconds);
      for (const oldest of [...took.keys()].slice(0, Math.max(0, took.size - KEPT))) {
        took.delete(oldest);
      }
      show();
    }),
  );
}
