// The cases of every operator as test items; they follow edits of the files they stand in.
import * as vscode from 'vscode';
import { log, messageOf } from '../log';
import type { Store } from '../operators/store';
import type { CaseRecord, CasesResult, Picks } from '../protocol';
import type { Server } from '../server/server';

const SOON_MS = 300;
const FILES = /\/(?:cases\.json|run_case_matrix\.py|design\.md)$/;
const GLOB = '**/{cases.json,run_case_matrix.py,design.md}';

export class Matrix implements vscode.Disposable {
  private readonly picked = new Map<string, Picks>();
  private readonly records = new Map<string, CaseRecord>();
  private readonly soon = new Map<string, NodeJS.Timeout>();
  private readonly parts: vscode.Disposable[];
  /** Called with an operator's root when its cases were listed for the first time. */
  onListed: (root: string) => void = () => undefined;

  constructor(
    private readonly server: Server,
    private readonly store: Store,
    private readonly controller: vscode.TestController,
  ) {
    const watcher = vscode.workspace.createFileSystemWatcher(GLOB);
    this.parts = [
      watcher,
      ...[watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete].map((event) => event((uri) => this.edited(uri))),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document.uri)),
      store.onChanged((root) => {
        if (root === undefined) {
          void this.list();
        }
      }),
    ];
    controller.resolveHandler = async (item) => {
      await (item ? this.refresh(item.id) : this.list());
    };
    controller.refreshHandler = () => this.list();
  }

  /** An operator's item. */
  operator(root: string): vscode.TestItem | undefined {
    return this.controller.items.get(root);
  }

  item(root: string, id: string): vscode.TestItem | undefined {
    return this.operator(root)?.children.get(itemId(root, id));
  }

  record(item: vscode.TestItem): CaseRecord | undefined {
    return this.records.get(item.id);
  }

  picks(root: string): Picks {
    return this.picked.get(root) ?? 'none';
  }

  /** Asks the server for an operator's cases; its items are then as they are now. */
  async refresh(root: string): Promise<void> {
    const client = this.server.client;
    if (!client) {
      return;
    }
    try {
      const result: CasesResult = await client.sendRequest('opdev/cases', { root });
      const name = this.store.operator(root)?.name;
      if (!result.cases.length || name === undefined) {
        // An operator without cases is no test.
        this.controller.items.delete(root);
        return;
      }
      const operator = this.operator(root) ?? this.operatorItem(root, name);
      const first = !this.picked.has(root);
      this.picked.set(root, result.picks);
      operator.children.replace(result.cases.map((record, index) => this.caseItem(root, record, index)));
      operator.error = undefined;
      if (first) {
        this.onListed(root);
      }
    } catch (error) {
      const operator = this.operator(root);
      if (operator) {
        operator.error = messageOf(error);
      }
      log().warn(`opdev/cases: ${messageOf(error)}`);
    }
  }

  dispose(): void {
    for (const timer of this.soon.values()) {
      clearTimeout(timer);
    }
    vscode.Disposable.from(...this.parts).dispose();
  }

  private async list(): Promise<void> {
    const there = new Set(this.store.operators.map((one) => one.root));
    for (const [id] of this.controller.items) {
      if (!there.has(id)) {
        this.controller.items.delete(id);
        this.picked.delete(id);
      }
    }
    for (const root of there) {
      await this.refresh(root);
    }
  }

  private edited(uri: vscode.Uri): void {
    if (!FILES.test(uri.path)) {
      return;
    }
    const text = uri.toString();
    const root = this.store.operators.find((one) => text.startsWith(`${one.root}/`))?.root;
    if (root) {
      clearTimeout(this.soon.get(root));
      this.soon.set(root, setTimeout(() => void this.refresh(root), SOON_MS));
    }
  }

  private operatorItem(root: string, name: string): vscode.TestItem {
    const item = this.controller.createTestItem(root, name, vscode.Uri.joinPath(vscode.Uri.parse(root), 'docs', 'design.md'));
    this.controller.items.add(item);
    return item;
  }

  private caseItem(root: string, record: CaseRecord, index: number): vscode.TestItem {
    const id = itemId(root, record.id);
    this.records.set(id, record);
    const uri = vscode.Uri.parse(record.place.uri);
    const known = this.item(root, record.id);
    const item = known?.uri?.toString() === uri.toString() ? known : this.controller.createTestItem(id, record.id, uri);
    item.range = new vscode.Range(record.place.line, 0, record.place.line, 0);
    item.sortText = String(index).padStart(5, '0');
    item.description = describe(record);
    item.tags = [record.dtype, record.tier, record.category, record.pes === null ? null : `${record.pes}pe`]
      .filter((tag) => tag !== null)
      .map((tag) => new vscode.TestTag(tag.replaceAll(/\s+/g, '-')));
    return item;
  }
}

function itemId(root: string, id: string): string {
  return `${root}#${id}`;
}

function describe(record: CaseRecord): string {
  const pes = record.pes === null ? null : vscode.l10n.t('{0} PEs', record.pes);
  return [record.tier, pes, record.dtype, record.shape].filter(Boolean).join(' · ');
}
