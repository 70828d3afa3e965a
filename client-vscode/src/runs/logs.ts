// A run's raw log as a read-only document that grows while the run goes on.
import * as vscode from 'vscode';
import type { Store } from '../operators/store';
import type { RunLogResult } from '../protocol';
import { going } from '../protocol';
import type { Server } from '../server/server';

export const SCHEME = 'opdev-log';
const PAGE = 5_000;
const MOST = 200_000;
const SOON_MS = 250;
/** A document is shown anew as a whole, so one of very many lines less often: a second for each of these. */
const LINES_PER_SECOND = 10_000;

/** The address of a run's log. */
export function logUri(root: string, run: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${run}.log`, query: JSON.stringify({ root, run }) });
}

class Logs implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly shown = new Map<string, number>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {}

  update(uri: vscode.Uri): void {
    this.changed.fire(uri);
  }

  /** How long to wait until it is shown anew, in milliseconds. */
  pause(uri: vscode.Uri): number {
    return Math.max(SOON_MS, ((this.shown.get(uri.toString()) ?? 0) * 1_000) / LINES_PER_SECOND);
  }

  forget(uri: vscode.Uri): void {
    this.shown.delete(uri.toString());
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const client = this.server.client;
    if (!client) {
      return vscode.l10n.t('The server is not running.');
    }
    const asked = JSON.parse(uri.query) as { root: string; run: string };
    const parts: string[] = [];
    const { logs } = await client.sendRequest<RunLogResult>('opdev/runLog', asked);
    for (const { name } of logs) {
      parts.push(`━━ ${name}`);
      for (let line = 0; line < MOST; ) {
        const page = await client.sendRequest<RunLogResult>('opdev/runLog', { ...asked, log: name, line, count: PAGE });
        parts.push(...page.lines);
        line += page.lines.length;
        if (!page.lines.length || line >= page.total) {
          break;
        }
      }
    }
    this.shown.set(uri.toString(), parts.length);
    return `${parts.join('\n')}\n`;
  }
}

export function runLogs(server: Server, store: Store): vscode.Disposable {
  const provider = new Logs(server);
  const soon = new Map<string, NodeJS.Timeout>();
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.languages.registerFoldingRangeProvider({ scheme: SCHEME }, { provideFoldingRanges: folds }),
    vscode.workspace.onDidCloseTextDocument((document) => provider.forget(document.uri)),
    store.onRunEvents(({ root, run, state }) => {
      const uri = logUri(root, run);
      const key = uri.toString();
      const over = !going(state);
      const open = vscode.workspace.textDocuments.some((one) => one.uri.toString() === key);
      if (!open || (soon.has(key) && !over)) {
        return;
      }
      clearTimeout(soon.get(key));
      soon.set(
        key,
        setTimeout(
          () => {
            soon.delete(key);
            provider.update(uri);
          },
          over ? SOON_MS : provider.pause(uri),
        ),
      );
    }),
  );
}

/** One fold for each step's log. */
function folds(document: vscode.TextDocument): vscode.FoldingRange[] {
  const found: vscode.FoldingRange[] = [];
  let start = -1;
  for (let line = 0; line <= document.lineCount; line += 1) {
    if (line === document.lineCount || document.lineAt(line).text.startsWith('━━ ')) {
      if (start >= 0 && line - 1 > start) {
        found.push(new vscode.FoldingRange(start, line - 1, vscode.FoldingRangeKind.Region));
      }
      start = line;
    }
  }
  return found;
}
