// What the server is told when it starts.
import * as vscode from 'vscode';

const SECTION = 'opdev';

/** Commands this client answers itself, so that the server does not announce them. */
export const OWN_COMMANDS: readonly string[] = ['opdev.intake', 'opdev.newOperator', 'opdev.showGate'];

/** `initializationOptions`: the settings as they are, and what the user allows here. */
export function initializationOptions(): Record<string, unknown> {
  return { ...settings(), trusted: vscode.workspace.isTrusted, commands: OWN_COMMANDS };
}

/** The section `opdev` as plain data. */
function settings(): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration(SECTION);
  return {
    lang: section.get('lang'),
    trace: section.get('trace'),
    run: { executor: section.get('run.executor'), pes: section.get('run.pes') },
    lint: {
      enable: section.get('lint.enable'),
      workspace: section.get('lint.workspace'),
      select: section.get('lint.select'),
      extendSelect: section.get('lint.extendSelect'),
      ignore: section.get('lint.ignore'),
      checkSeconds: section.get('lint.checkSeconds'),
    },
  };
}
