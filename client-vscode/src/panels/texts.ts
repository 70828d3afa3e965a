// The words of the pages, in the editor's language: pages cannot ask for them themselves.
import * as vscode from 'vscode';
import { historyTexts, performanceTexts, precisionTexts } from './figureTexts';
import type { Kind } from './messages';

export function titleOf(kind: Kind): string {
  switch (kind) {
    case 'compile':
      return vscode.l10n.t('Compile');
    case 'precision':
      return vscode.l10n.t('Precision');
    case 'performance':
      return vscode.l10n.t('Performance');
  }
}

/** Words all pages share. */
function shared(): Record<string, string> {
  return {
    simulated: vscode.l10n.t('Simulated on the CPU: no measurement of hardware'),
    nothing: vscode.l10n.t('Nothing was run here yet.'),
    starting: vscode.l10n.t('starting'),
    running: vscode.l10n.t('running'),
    passed: vscode.l10n.t('passed'),
    failed: vscode.l10n.t('failed'),
    blocked: vscode.l10n.t('waits for a person'),
    stopped: vscode.l10n.t('stopped'),
    lost: vscode.l10n.t('lost'),
    stop: vscode.l10n.t('Stop'),
  };
}

export function textsOf(kind: Kind): Record<string, string> {
  switch (kind) {
    case 'compile':
      return {
        ...shared(),
        ...historyTexts(),
        exportLog: vscode.l10n.t('Export the log'),
        fresh: vscode.l10n.t('new'),
        gone: vscode.l10n.t('Gone since run {0}', '{0}'),
        noneGone: vscode.l10n.t('none'),
        oldest: vscode.l10n.t('The first {0} lines are in the log of the run only.', '{0}'),
        filter: vscode.l10n.t('Filter the log'),
        errors: vscode.l10n.t('Errors and warnings'),
        noErrors: vscode.l10n.t('No errors or warnings'),
        log: vscode.l10n.t('Log'),
        follow: vscode.l10n.t('Follow the end'),
        foldAll: vscode.l10n.t('Fold all'),
        unfoldAll: vscode.l10n.t('Unfold all'),
        lines: vscode.l10n.t('lines'),
        diagnosis: vscode.l10n.t('Why it failed'),
        next: vscode.l10n.t('Next'),
      };
    case 'precision':
      return { ...shared(), ...precisionTexts() };
    case 'performance':
      return { ...shared(), ...performanceTexts() };
  }
}
