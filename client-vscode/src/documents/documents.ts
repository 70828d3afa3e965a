// What opdev has to say at length, as read-only documents: computed when they are opened, and anew after a reload.
import * as vscode from 'vscode';
import { log, messageOf } from '../log';

export const SCHEME = 'opdev-document';

/** Makes the text of one kind of document for an operator's root, or for the workspace (empty). */
export type Make = (root: string) => Promise<string>;

interface Asked {
  kind: string;
  root: string;
}

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changed.event;

  constructor(private readonly kinds: Readonly<Record<string, Make>>) {}

  /** Opens a document as it is now; Markdown is shown rendered. */
  async show(kind: string, root: string, name: string): Promise<void> {
    const uri = this.address(kind, root, name);
    this.changed.fire(uri);
    if (name.endsWith('.md')) {
      await vscode.commands.executeCommand('markdown.showPreview', uri);
      return;
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  /** Open documents of a kind about an operator are computed anew. */
  refresh(kind: string, root: string): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === SCHEME && asked(uri).kind === kind && asked(uri).root === root) {
        this.changed.fire(uri);
      }
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { kind, root } = asked(uri);
    try {
      return (await this.kinds[kind]?.(root)) ?? '';
    } catch (error) {
      log().warn(`${kind}: ${messageOf(error)}`);
      return `${messageOf(error)}\n`;
    }
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }

  private address(kind: string, root: string, name: string): vscode.Uri {
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: JSON.stringify({ kind, root } satisfies Asked) });
  }
}

function asked(uri: vscode.Uri): Asked {
  return JSON.parse(uri.query) as Asked;
}
