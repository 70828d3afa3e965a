// Commands that show: the gate, the environment, rounds, a state file.
import * as vscode from 'vscode';
import { opdev } from '../cli';
import type { Fits } from '../operators/choose';
import { ofPypto, ofShmem } from '../operators/choose';
import type { Store } from '../operators/store';
import type { OperatorStatus, PhaseStatusResult, Place } from '../protocol';
import type { Server } from '../server/server';
import { Documents } from './documents';
import { gateText } from './gate';
import type { Named } from './operator';
import { nameOf, of, rootOf } from './operator';

export function documentCommands(server: Server, store: Store): vscode.Disposable {
  const documents = new Documents({
    gate: (root) => gate(server, root),
    doctor: (root) => said(server, ['doctor', ...of(root)]),
    rounds: (root) => said(server, ['rounds', ...of(root)]),
    roundDiff: (root) => said(server, ['rounds', 'diff', ...of(root)]),
    state: (root) => said(server, ['state', 'show', ...of(root)]),
  });
  const about = (kind: string, file: (name: string) => string, fits?: Fits) => async (named: Named) => {
    const root = await rootOf(store, named, fits);
    if (root) {
      await documents.show(kind, root, file(nameOf(store, root)));
    }
  };
  const commands: Record<string, (named: Named) => Promise<unknown>> = {
    'opdev.showGate': about('gate', (name) => `${name} ${vscode.l10n.t('gate')}.md`),
    'opdev.doctor': about('doctor', (name) => `${name} ${vscode.l10n.t('environment')}.txt`),
    'opdev.rounds.show': about('rounds', (name) => `${name} ${vscode.l10n.t('rounds')}.txt`, ofShmem),
    'opdev.rounds.diff': about('roundDiff', (name) => `${name} ${vscode.l10n.t('round')}.diff`, ofShmem),
    'opdev.state.show': about('state', (name) => `${name} ${vscode.l10n.t('state')}.txt`, ofPypto),
  };
  return vscode.Disposable.from(
    documents,
    store.onChanged((root) => {
      if (root !== undefined) {
        documents.refresh('gate', root);
        documents.refresh('state', root);
      }
    }),
    ...Object.entries(commands).map(([name, command]) => vscode.commands.registerCommand(name, command)),
  );
}

async function said(server: Server, words: readonly string[]): Promise<string> {
  return (await opdev(server, words)).output;
}

async function gate(server: Server, root: string): Promise<string> {
  const result = await server.client?.sendRequest<PhaseStatusResult>('opdev/phaseStatus', { root });
  const status = result?.operators[0];
  if (!status) {
    return result?.failed[0]?.problem ?? vscode.l10n.t('The server is not running.');
  }
  return gateText(status, {
    next: (text) => vscode.l10n.t('Next: {0}', text),
    closed: vscode.l10n.t('What keeps the gate closed'),
    open: vscode.l10n.t('Nothing keeps the gate closed'),
    opens: (text) => vscode.l10n.t('What opens it: {0}', text),
    phases: vscode.l10n.t('Phases'),
    states: {
      open: vscode.l10n.t('open'),
      closed: vscode.l10n.t('closed'),
      skipped: vscode.l10n.t('skipped'),
      ahead: vscode.l10n.t('ahead'),
    },
  }, await links(status));
}

/** Previews follow paths from the first folder of the workspace, and nothing that begins with `file:`. */
async function links(status: OperatorStatus): Promise<(place: Place) => string | null> {
  const base = vscode.workspace.workspaceFolders?.[0]?.uri.toString();
  const there = new Set<string>();
  for (const check of status.phases.flatMap((phase) => phase.checks)) {
    const uri = check.place?.uri;
    if (uri !== undefined && base !== undefined && uri.startsWith(`${base}/`) && (await isText(uri))) {
      there.add(uri);
    }
  }
  return ({ uri }) => (base !== undefined && there.has(uri) ? uri.slice(base.length) : null);
}

async function isText(uri: string): Promise<boolean> {
  try {
    return (await vscode.workspace.fs.stat(vscode.Uri.parse(uri))).type === vscode.FileType.File;
  } catch {
    return false;
  }
}
