// Commands that run, stop and show; the server does all of it.
import * as vscode from 'vscode';
import { setUpClangd } from '../clangd';
import { messageOf } from '../log';
import type { Node } from '../operators/nodes';
import type { Fits } from '../operators/choose';
import { chooseOperator, ofShmem, verifiable } from '../operators/choose';
import { OperatorNode, PhaseNode, RunNode } from '../operators/nodes';
import type { Store } from '../operators/store';
import { intake } from '../intake/intake';
import type { Server } from '../server/server';
import { logUri } from './logs';

type Arguments = Record<string, unknown>;

/** Phases that have a command of their own; the manifest names them. */
export const PHASES = ['0', '1', '2', '3', '4', '5', '5.5', '6', '6.5', 'regression', '7'] as const;

export function registerRunCommands(host: Server, store: Store): vscode.Disposable {
  const commands: Record<string, (node?: Node) => Promise<unknown>> = {
    'opdev.run': (node) => run(store, node),
    'opdev.runAll': (node) => withOperator(store, node, (root) => start({ root, phase: 'all' }), ofShmem),
    'opdev.verify': (node) => withOperator(store, node, (root) => start({ root, phase: 'verify' }), verifiable),
    'opdev.stop': (node) =>
      withOperator(store, node, (root) =>
        server('opdev.stopRun', node instanceof RunNode ? { root, run: node.record.run } : { root }),
      ),
    'opdev.resume': (node) =>
      withOperator(store, node, (root) =>
        server('opdev.resumeRun', node instanceof RunNode ? { root, run: node.record.run } : { root }),
      ),
    'opdev.showRunLog': (node) => showLog(store, node),
    'opdev.refresh': () => store.refresh(),
    'opdev.answerIntake': (node) => withOperator(store, node, (root) => intake(host, { root }), ofShmem),
    'opdev.writeClangd': (node) => withOperator(store, node, (root) => setUpClangd(root), ofShmem),
  };
  return vscode.Disposable.from(
    // What the server's lenses call; its own command would take all answers at once.
    vscode.commands.registerCommand('opdev.intake', ({ root }: { root: string }) => intake(host, { root })),
    ...Object.entries(commands).map(([name, command]) => vscode.commands.registerCommand(name, command)),
    ...PHASES.map((phase) =>
      vscode.commands.registerCommand(`opdev.phase.${phase.replace('.', '_')}`, (node?: Node) =>
        withOperator(store, node, (root) => start({ root, phase }), ofShmem),
      ),
    ),
  );
}

async function run(store: Store, node?: Node): Promise<void> {
  if (node instanceof PhaseNode) {
    await start({ root: node.root, phase: node.phase.id });
    return;
  }
  const runs: Fits = (one) => one.phases.some((phase) => phase.runs);
  await withOperator(store, node, async (root) => {
    const status = store.operator(root);
    const items = (status?.phases ?? []).filter((phase) => phase.runs).map((phase) => ({
      label: phase.title,
      description: phase.id === status?.phase ? vscode.l10n.t('where the operator is') : '',
      detail: phase.why,
      phase: phase.id,
    }));
    const chosen = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Which phase?') });
    if (chosen) {
      await start({ root, phase: chosen.phase });
    }
  }, runs);
}

async function start(asked: Arguments): Promise<void> {
  await server('opdev.runPhase', asked);
}

/** One of the server's commands; what it refuses is told, with its own words. */
async function server(command: string, asked: Arguments): Promise<unknown> {
  try {
    return await vscode.commands.executeCommand(command, asked);
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
    return undefined;
  }
}

async function withOperator(
  store: Store,
  node: Node | undefined,
  act: (root: string) => Promise<unknown>,
  fits?: Fits,
): Promise<void> {
  const root = node && 'root' in node ? node.root : (await chooseOperator(store, fits))?.root;
  if (root) {
    await act(root);
  }
}

async function showLog(store: Store, node?: Node): Promise<void> {
  let uri: vscode.Uri | undefined;
  if (node instanceof RunNode) {
    uri = logUri(node.root, node.record.run);
  } else {
    const root = node instanceof OperatorNode || node instanceof PhaseNode ? node.root : (await chooseOperator(store))?.root;
    const last = root ? (await store.history(root))[0] : undefined;
    uri = root && last ? logUri(root, last.run) : undefined;
  }
  if (!uri) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Nothing was run here yet.'));
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.languages.setTextDocumentLanguage(document, 'log');
  await vscode.window.showTextDocument(document, { preview: true });
}
