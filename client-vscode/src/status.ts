// The state of the server, where VS Code shows the state of languages.
import * as vscode from 'vscode';
import type { Health, Server } from './server/server';

export const SELECTOR: vscode.DocumentSelector = [
  { language: 'cpp' },
  { language: 'python' },
  { language: 'markdown' },
  { language: 'shellscript' },
  { language: 'cmake' },
];

export function statusItem(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('opdev.server', SELECTOR);
  item.name = 'opdev';
  const show = (health: Health): void => {
    const { text, detail, severity, busy, command } = view(health);
    item.text = text;
    item.detail = detail;
    item.severity = severity;
    item.busy = busy;
    item.command = command;
  };
  show(server.health);
  return vscode.Disposable.from(item, server.onChanged(show));
}

interface View {
  text: string;
  detail: string;
  severity: vscode.LanguageStatusSeverity;
  busy: boolean;
  command: vscode.Command;
}

function view(health: Health): View {
  const { Information, Warning, Error } = vscode.LanguageStatusSeverity;
  const log: vscode.Command = { command: 'opdev.showLog', title: vscode.l10n.t('Show log') };
  const restart: vscode.Command = { command: 'opdev.restart', title: vscode.l10n.t('Restart') };
  switch (health.kind) {
    case 'starting':
      return { text: 'opdev', detail: vscode.l10n.t('starting'), severity: Information, busy: true, command: log };
    case 'running':
      return {
        text: `opdev ${health.version}`,
        detail: vscode.workspace.isTrusted
          ? health.found.candidate.python
          : vscode.l10n.t('restricted mode: diagnostics only, nothing is run'),
        severity: Information,
        busy: false,
        command: log,
      };
    case 'missing':
      return {
        text: 'opdev',
        detail: vscode.l10n.t('no Python with opdev found'),
        severity: Error,
        busy: false,
        command: { command: 'opdev.setUp', title: vscode.l10n.t('Set up') },
      };
    case 'failed':
      return { text: 'opdev', detail: health.reason, severity: Error, busy: false, command: restart };
    case 'stopped':
      return { text: 'opdev', detail: vscode.l10n.t('stopped'), severity: Warning, busy: false, command: restart };
  }
}
