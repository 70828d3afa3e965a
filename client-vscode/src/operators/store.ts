// What is known of the workspace's operators: one place, with news for whoever shows it.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { log, messageOf } from '../log';
import type { OperatorStatus, PhaseStatusResult, RunEventParams, RunHistoryResult, RunRecord, RunState } from '../protocol';
import type { Part, Server } from '../server/server';

/** Events after which an operator's gates may say something else. */
const TELLING = new Set(['run-started', 'phase-started', 'phase-ended', 'run-ended', 'step-ended']);
const HISTORY = 20;
const SOON_MS = 150;
/** Until a command goes on with the operators that are known. */
const PATIENCE_MS = 30_000;

export interface Failure {
  readonly root: string;
  readonly problem: string;
}

export class Store implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<string | undefined>();
  private readonly events = new vscode.EventEmitter<RunEventParams>();
  private readonly byRoot = new Map<string, OperatorStatus>();
  private readonly soon = new Map<string, NodeJS.Timeout>();
  /** The last event of each run that goes on. */
  private readonly seen = new Map<string, number>();
  failed: readonly Failure[] = [];
  /** Whether the server has answered at least once. */
  known = false;
  /** Whether it has looked through all of the workspace. */
  private complete = false;
  /** Fired with an operator's root, or with nothing when the list is another. */
  readonly onChanged = this.changed.event;
  /** The events of all runs, as they come. */
  readonly onRunEvents = this.events.event;

  constructor(private readonly server: Server) {
    server.known = () => Object.fromEntries(this.seen);
    server.attach((client) => this.listen(client));
    server.onChanged(({ kind }) => void vscode.commands.executeCommand('setContext', 'opdev.health', kind));
  }

  get operators(): readonly OperatorStatus[] {
    return [...this.byRoot.values()].sort((a, b) => a.name.localeCompare(b.name));
  }

  operator(root: string): OperatorStatus | undefined {
    return this.byRoot.get(root);
  }

  /** Asks the server anew: about one operator, or about all. */
  async refresh(root?: string): Promise<void> {
    const client = this.server.client;
    if (!client) {
      return;
    }
    try {
      const result = await client.sendRequest<PhaseStatusResult>('opdev/phaseStatus', root ? { root } : {});
      if (root) {
        for (const one of result.operators) {
          this.byRoot.set(one.root, one);
        }
        this.changed.fire(root);
        return;
      }
      this.byRoot.clear();
      for (const one of result.operators) {
        this.byRoot.set(one.root, one);
      }
      this.failed = result.failed;
      this.known = true;
      this.complete = result.complete;
      await vscode.commands.executeCommand('setContext', 'opdev.known', true);
      this.changed.fire(undefined);
      if (!result.complete) {
        this.later('', 1_000);
      }
    } catch (error) {
      log().warn(`opdev/phaseStatus: ${messageOf(error)}`);
    }
  }

  /** When all operators are known; at once where no server will tell of them, and after a while in any case. */
  async settled(): Promise<void> {
    const waiting = (): boolean => !this.complete && ['starting', 'running'].includes(this.server.health.kind);
    if (!waiting()) {
      return;
    }
    const heard: vscode.Disposable[] = [];
    await new Promise<void>((resolve) => {
      const look = (): void => (waiting() ? undefined : resolve());
      heard.push(this.onChanged(look), this.server.onChanged(look));
      const late = setTimeout(resolve, PATIENCE_MS);
      heard.push(new vscode.Disposable(() => clearTimeout(late)));
    });
    vscode.Disposable.from(...heard).dispose();
  }

  /** The last runs of an operator, the newest first. */
  async history(root: string): Promise<readonly RunRecord[]> {
    const result = await this.server.client?.sendRequest<RunHistoryResult>('opdev/runHistory', { root, limit: HISTORY });
    return result?.runs ?? [];
  }

  dispose(): void {
    for (const timer of this.soon.values()) {
      clearTimeout(timer);
    }
    this.changed.dispose();
    this.events.dispose();
  }

  private listen(client: LanguageClient): Part {
    // In a moment: only then the server is said to run.
    this.later('', 0);
    return vscode.Disposable.from(
      client.onNotification('opdev/operatorsChanged', () => this.later('', SOON_MS)),
      client.onNotification('opdev/runEvent', (params: RunEventParams) => this.heard(params)),
      vscode.workspace.onDidSaveTextDocument((document) => {
        const root = this.rootOf(document.uri.toString());
        if (root) {
          this.later(root, SOON_MS);
        }
      }),
    );
  }

  private heard(params: RunEventParams): void {
    const last = params.events.at(-1)?.seq;
    if (ended(params.state)) {
      this.seen.delete(params.run);
    } else if (last !== undefined) {
      this.seen.set(params.run, Math.max(last, this.seen.get(params.run) ?? -1));
    }
    this.events.fire(params);
    if (params.events.some((event) => TELLING.has(event.type)) || ended(params.state)) {
      this.later(params.root, SOON_MS);
    }
  }

  private rootOf(uri: string): string | undefined {
    return [...this.byRoot.keys()].find((root) => uri.startsWith(`${root}/`));
  }

  private later(root: string, after: number): void {
    clearTimeout(this.soon.get(root));
    this.soon.set(
      root,
      setTimeout(() => {
        this.soon.delete(root);
        void this.refresh(root || undefined);
      }, after),
    );
  }
}

function ended(state: RunState): boolean {
  return state !== 'starting' && state !== 'running';
}
