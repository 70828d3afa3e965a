// Tools for assistants in the editor: findings, gates, rules, the last run. Nothing here changes or runs anything.
import * as vscode from 'vscode';
import { opdev } from '../cli';
import { log } from '../log';
import type { Store } from '../operators/store';
import type {
  CasesResult,
  OperatorStatus,
  PhaseStatusResult,
  RunEvent,
  RunEventsResult,
  RunHistoryResult,
} from '../protocol';
import type { Server } from '../server/server';
import { clipped, gateFacts, runFacts } from './facts';

/** What of the API is used; it came with VS Code 1.95, and this extension runs in older ones, too. */
interface Tools {
  lm?: { registerTool?: (name: string, tool: Tool) => vscode.Disposable };
  LanguageModelToolResult?: new (parts: unknown[]) => unknown;
  LanguageModelTextPart?: new (text: string) => unknown;
}

interface Tool {
  invoke(options: { input: Record<string, unknown> }, token: vscode.CancellationToken): Promise<unknown>;
}

type Answer = (input: Record<string, unknown>, signal: AbortSignal) => Promise<string>;

export function assistantTools(server: Server, store: Store): vscode.Disposable {
  const { lm, LanguageModelToolResult, LanguageModelTextPart } = vscode as unknown as Tools;
  const register = lm?.registerTool?.bind(lm);
  if (!register || !LanguageModelToolResult || !LanguageModelTextPart) {
    log().debug('this editor has no tools for assistants');
    return new vscode.Disposable(() => undefined);
  }
  const tools: Record<string, Answer> = {
    opdev_lint: (input, signal) => lint(server, input, signal),
    opdev_gate: async (input) => {
      const status = await operatorOf(server, store, input);
      return typeof status === 'string' ? status : gateFacts(status);
    },
    opdev_explain: async (input, signal) => {
      const rule = text(input.rule);
      if (!/^\w[\w-]*$/.test(rule)) {
        return 'Name one rule, as missing-wait or SH100.';
      }
      return clipped((await opdev(server, ['lint', 'explain', rule], signal)).output);
    },
    opdev_last_run: async (input) => {
      const status = await operatorOf(server, store, input);
      return typeof status === 'string' ? status : lastRun(server, status.root);
    },
  };
  return vscode.Disposable.from(
    ...Object.entries(tools).map(([name, answer]) =>
      register(name, {
        invoke: async ({ input }, token) => {
          const abort = new AbortController();
          token.onCancellationRequested(() => abort.abort());
          return new LanguageModelToolResult([new LanguageModelTextPart(await answer(input, abort.signal))]);
        },
      }),
    ),
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** Findings below a path of the workspace, or in all of it. */
async function lint(server: Server, input: Record<string, unknown>, signal: AbortSignal): Promise<string> {
  const asked = text(input.path);
  const folders = vscode.workspace.workspaceFolders ?? [];
  const paths = asked
    ? folders.map((folder) => vscode.Uri.joinPath(folder.uri, asked).fsPath)
    : folders.map((folder) => folder.uri.fsPath);
  const own = folders.some((folder) => asked.startsWith(folder.uri.fsPath)) ? [asked] : paths;
  const ran = await opdev(server, ['lint', '--format', 'concise', '--fail-level', 'never', '--', ...own], signal);
  return clipped(ran.output.trim() || 'no findings');
}

/** The operator that is meant, or the names there are. */
async function operatorOf(server: Server, store: Store, input: Record<string, unknown>): Promise<OperatorStatus | string> {
  const name = text(input.operator);
  const known = store.operators;
  const found = known.find((one) => one.name === name) ?? (!name && known.length === 1 ? known[0] : undefined);
  if (!found) {
    return `Name one of the operators of this workspace: ${known.map((one) => one.name).join(', ') || 'there is none'}`;
  }
  const result = await server.client?.sendRequest<PhaseStatusResult>('opdev/phaseStatus', { root: found.root });
  return result?.operators[0] ?? found;
}

async function lastRun(server: Server, root: string): Promise<string> {
  const client = server.client;
  if (!client) {
    return 'The server is not running.';
  }
  const { runs }: RunHistoryResult = await client.sendRequest('opdev/runHistory', { root, limit: 1 });
  const record = runs[0];
  if (!record) {
    return 'Nothing of this operator was run yet.';
  }
  const events: RunEvent[] = [];
  for (let more = true; more; ) {
    const asked = { root, run: record.run, after: events.at(-1)?.seq ?? -1, limit: 2_000 };
    const page: RunEventsResult = await client.sendRequest('opdev/runEvents', asked);
    events.push(...page.events);
    more = page.more && page.events.length > 0;
  }
  const cases: CasesResult = await client.sendRequest('opdev/cases', { root });
  return runFacts(record, events, cases);
}
