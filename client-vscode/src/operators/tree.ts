// The view: operators → phases → what keeps a gate closed, and the runs of each operator.
import * as vscode from 'vscode';
import type { OperatorStatus } from '../protocol';
import { going } from '../protocol';
import type { Node } from './nodes';
import { CheckNode, OperatorNode, PhaseNode, ProblemNode, RunNode, RunsNode } from './nodes';
import type { Store } from './store';

class Provider implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  private readonly shown = new Map<string, OperatorNode>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly store: Store) {}

  refresh(root: string | undefined): void {
    const status = root === undefined ? undefined : this.store.operator(root);
    const node = root === undefined ? undefined : this.shown.get(root);
    if (!status || !node) {
      this.changed.fire(undefined);
      return;
    }
    // The same line with other words: what is expanded stays so.
    Object.assign(node, new OperatorNode(status));
    this.changed.fire(node);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return node;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) {
      this.shown.clear();
      const nodes = this.store.operators.map((status) => new OperatorNode(status));
      for (const one of nodes) {
        this.shown.set(one.root, one);
      }
      return [...nodes, ...this.store.failed.map(({ root, problem }) => new ProblemNode(root, problem))];
    }
    if (node instanceof OperatorNode) {
      return phases(node.status);
    }
    if (node instanceof PhaseNode) {
      return node.phase.checks.map((check, index) => new CheckNode(`${node.id ?? ''}#${check.id}#${index}`, check));
    }
    if (node instanceof RunsNode) {
      return (await this.store.history(node.root)).map((record) => new RunNode(record));
    }
    return [];
  }
}

function phases(status: OperatorStatus): Node[] {
  const live = new Set(status.running.filter((run) => going(run.state)).map((run) => run.phase));
  return [
    ...status.phases.map((phase) => new PhaseNode(status.root, phase, phase.id === status.phase, live.has(phase.id))),
    new RunsNode(status.root),
  ];
}

export function operatorsView(store: Store): vscode.Disposable {
  const provider = new Provider(store);
  const view = vscode.window.createTreeView('opdev.operators', { treeDataProvider: provider, showCollapseAll: true });
  return vscode.Disposable.from(
    view,
    store.onChanged((root) => provider.refresh(root)),
  );
}
