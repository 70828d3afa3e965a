// The three panels: opened by command, fed by the run's events, there again after a reload.
import * as vscode from 'vscode';
import { log, messageOf } from '../log';
import type { Node } from '../operators/nodes';
import { RunNode } from '../operators/nodes';
import type { Store } from '../operators/store';
import { chooseOperator } from '../operators/choose';
import type { RunEvent } from '../protocol';
import type { Server } from '../server/server';
import { Feed } from './feed';
import { LogFeed } from './logFeed';
import type { Kind, Target, ToHost, ToPage } from './messages';
import { folderOfPages, page } from './page';
import { answer } from './requests';
import { save } from './save';
import { textsOf, titleOf } from './texts';

const KINDS: readonly Kind[] = ['compile', 'precision', 'performance'];

class Panel {
  private readonly feed: Feed;
  private readonly logs: LogFeed | undefined;

  constructor(
    context: vscode.ExtensionContext,
    private readonly server: Server,
    store: Store,
    private readonly kind: Kind,
    private target: Target,
    panel: vscode.WebviewPanel,
  ) {
    const send = (message: ToPage): void => void panel.webview.postMessage(message);
    const operator = store.operator(target.root)?.name ?? target.root.replace(/.*\//, '');
    this.logs = kind === 'compile' ? new LogFeed(server, target.root, send) : undefined;
    this.feed = new Feed(server, store, target, {
      begins: (run, simulated) => {
        this.logs?.begin(run);
        send({ type: 'reset', target: this.target, operator, run, simulated, texts: textsOf(kind) });
      },
      comes: (events: RunEvent[], state) => {
        // Output comes by its log: what only says that there is more of it would load the editor's window for nothing.
        send({ type: 'events', events: events.filter((event) => event.type !== 'output'), state });
        this.logs?.comes(events);
      },
    });
    panel.title = `${titleOf(kind)} · ${operator}`;
    const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(context.extensionUri, 'media', name);
    panel.iconPath = { light: icon('panel-light.svg'), dark: icon('panel-dark.svg') };
    panel.webview.options = { enableScripts: true, localResourceRoots: [folderOfPages(context)] };
    panel.webview.onDidReceiveMessage((message: ToHost) => this.hears(message, send));
    panel.webview.html = page(context, panel.webview, kind, titleOf(kind));
    panel.onDidDispose(() => this.dispose());
  }

  private hears(message: ToHost, send: (message: ToPage) => void): void {
    switch (message.type) {
      case 'ready':
        this.feed.begin().catch((error: unknown) => log().warn(`${this.kind}: ${messageOf(error)}`));
        break;
      case 'open': {
        const at = new vscode.Position(Math.max(message.line - 1, 0), Math.max(message.column - 1, 0));
        void vscode.window.showTextDocument(vscode.Uri.file(message.path), {
          selection: new vscode.Range(at, at),
          viewColumn: vscode.ViewColumn.One,
        });
        break;
      }
      case 'command':
        void vscode.commands.executeCommand(message.command, { root: this.target.root, ...message.arguments });
        break;
      case 'request':
        void answer(this.server, this.target, message).then(send);
        break;
      case 'show':
        this.show(message.run);
        break;
      case 'whole':
        this.logs?.want(message.wanted);
        break;
      case 'save':
        save(this.target.root, message).catch((error: unknown) => vscode.window.showErrorMessage(messageOf(error)));
        break;
    }
  }

  /** Another run of the same operator. */
  show(run: string | null): void {
    if (run !== this.target.run) {
      this.target = { ...this.target, run };
      this.feed.show(this.target).catch((error: unknown) => log().warn(`${this.kind}: ${messageOf(error)}`));
    }
  }

  private dispose(): void {
    this.feed.dispose();
    this.logs?.dispose();
  }
}

export function panels(context: vscode.ExtensionContext, server: Server, store: Store): vscode.Disposable {
  const open = new Map<string, { panel: vscode.WebviewPanel; shown: Panel }>();

  const show = (kind: Kind, target: Target, into?: vscode.WebviewPanel): void => {
    const key = `${kind}#${target.root}#${target.run ?? ''}`;
    const there = open.get(key);
    if (there && !into) {
      there.panel.reveal();
      there.shown.show(target.run);
      return;
    }
    // Beside the code, and where panels are already: three columns of them would leave none any room.
    const others = [...open.values()].map((one) => one.panel.viewColumn).find((column) => column !== undefined);
    const column = { viewColumn: others ?? vscode.ViewColumn.Beside, preserveFocus: true };
    const panel =
      into ?? vscode.window.createWebviewPanel(`opdev.${kind}`, titleOf(kind), column, { retainContextWhenHidden: true });
    open.set(key, { panel, shown: new Panel(context, server, store, kind, target, panel) });
    panel.onDidDispose(() => open.delete(key));
  };

  return vscode.Disposable.from(
    ...KINDS.map((kind) =>
      vscode.commands.registerCommand(`opdev.show.${kind}`, async (node?: Node) => {
        const root = node && 'root' in node ? node.root : (await chooseOperator(store))?.root;
        if (root) {
          show(kind, { root, run: node instanceof RunNode ? node.record.run : null });
        }
      }),
    ),
    ...KINDS.map((kind) =>
      vscode.window.registerWebviewPanelSerializer(`opdev.${kind}`, {
        deserializeWebviewPanel: (panel, state: Target | undefined) => {
          if (state?.root) {
            show(kind, state, panel);
          } else {
            panel.dispose();
          }
          return Promise.resolve();
        },
      }),
    ),
  );
}
