// The one page with all figures of an operator (`opdev report --html`), shown in the editor, there again after a reload.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { opdevWithProgress } from '../cli';
import type { Store } from '../operators/store';
import type { Server } from '../server/server';
import { nameOf, of } from './operator';

const TYPE = 'opdev.report';
/** The page follows the system's colours; here they are the editor's. */
const COLOURS = `<style>:root{--fg:var(--vscode-editor-foreground);--bg:var(--vscode-editor-background);
--soft:var(--vscode-descriptionForeground);--line:var(--vscode-contrastBorder,var(--vscode-panel-border));
--card:var(--vscode-editorWidget-background);--ok:var(--vscode-testing-iconPassed);--bad:var(--vscode-errorForeground);
--odd:var(--vscode-editorWarning-foreground);--bar:var(--vscode-charts-blue);--c0:var(--vscode-charts-blue);
--c1:var(--vscode-charts-purple);--c2:var(--vscode-charts-green);--c3:var(--vscode-charts-yellow);
--c4:var(--vscode-charts-red);--c5:var(--vscode-charts-orange)}a{color:var(--vscode-textLink-foreground)}</style>`;

export class ReportPages implements vscode.Disposable {
  private readonly open = new Map<string, vscode.WebviewPanel>();
  private readonly restored: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
    private readonly store: Store,
  ) {
    this.restored = vscode.window.registerWebviewPanelSerializer(TYPE, {
      deserializeWebviewPanel: async (panel, state: { root?: string } | undefined) => {
        const text = state?.root === undefined ? undefined : await read(state.root);
        if (state?.root === undefined || text === undefined) {
          panel.dispose();
        } else {
          this.fill(state.root, panel, text);
        }
      },
    });
  }

  dispose(): void {
    this.restored.dispose();
  }

  /** Writes the page anew and shows it. */
  async show(root: string): Promise<void> {
    const path = file(root).fsPath;
    const ran = await opdevWithProgress(this.server, vscode.l10n.t('Writing the report page'), ['report', '--html', path, ...of(root)]);
    if (!ran) {
      return;
    }
    const text = ran.status === 0 ? await read(root) : undefined;
    if (text === undefined) {
      throw new Error(ran.output.trim());
    }
    const title = `${vscode.l10n.t('Report')} · ${nameOf(this.store, root)}`;
    const panel = this.open.get(root) ?? vscode.window.createWebviewPanel(TYPE, title, vscode.ViewColumn.Active);
    this.fill(root, panel, text);
    panel.reveal();
    const save = vscode.l10n.t('Save as…');
    const said = vscode.l10n.t('{0} is written: one file, to be opened in any browser.', path);
    if ((await vscode.window.showInformationMessage(said, save)) === save) {
      await saveAs(root, nameOf(this.store, root));
    }
  }

  private fill(root: string, panel: vscode.WebviewPanel, text: string): void {
    if (this.open.get(root) !== panel) {
      this.open.set(root, panel);
      panel.onDidDispose(() => this.open.delete(root));
    }
    const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(this.extension, 'media', name);
    panel.iconPath = { light: icon('panel-light.svg'), dark: icon('panel-dark.svg') };
    panel.webview.options = { enableScripts: true, localResourceRoots: [] };
    panel.webview.html = inEditor(text, root);
  }
}

/** The page runs no scripts; the one it gets here remembers whose it is. */
function inEditor(text: string, root: string): string {
  const nonce = randomBytes(16).toString('base64');
  const state = JSON.stringify({ root }).replaceAll('<', '\\u003c');
  return text
    .replace("style-src 'unsafe-inline'", () => `style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`)
    .replace('</head>', () => `${COLOURS}<script nonce="${nonce}">acquireVsCodeApi().setState(${state});</script></head>`);
}

/** What opdev keeps for itself is in this folder, and no version control sees it. */
function file(root: string): vscode.Uri {
  return vscode.Uri.joinPath(vscode.Uri.parse(root), '.opdev', 'report.html');
}

async function read(root: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file(root)));
  } catch {
    return undefined;
  }
}

async function saveAs(root: string, name: string): Promise<void> {
  const chosen = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(vscode.Uri.parse(root), `${name}-report.html`),
    filters: { HTML: ['html'] },
    title: vscode.l10n.t('Export'),
  });
  if (chosen) {
    await vscode.workspace.fs.copy(file(root), chosen, { overwrite: true });
  }
}
