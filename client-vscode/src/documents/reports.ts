// Reports: written by opdev from run records, and shown; the page of figures in a panel of its own.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { opdevWithProgress } from '../cli';
import { messageOf } from '../log';
import { ofShmem } from '../operators/choose';
import type { Store } from '../operators/store';
import type { Server } from '../server/server';
import type { Named } from './operator';
import { of, rootOf, short } from './operator';
import { ReportPages } from './reportPage';

export function reportCommands(context: vscode.ExtensionContext, server: Server, store: Store): vscode.Disposable {
  const pages = new ReportPages(context.extensionUri, server, store);
  const commands: Record<string, (root: string) => Promise<unknown>> = {
    'opdev.showReport': showReport,
    'opdev.showReportPage': (root) => pages.show(root),
    'opdev.writeReports': async (root) => {
      const said = await write(server, vscode.l10n.t('Writing the reports'), ['report', ...of(root)]);
      if (said !== undefined) {
        const open = vscode.l10n.t('Show a report');
        if ((await vscode.window.showInformationMessage(short(said, root), open)) === open) {
          await showReport(root);
        }
      }
    },
    'opdev.writePerfReport': async (root) => {
      const said = await write(server, vscode.l10n.t('Writing the performance report'), ['perf', 'report', ...of(root)]);
      if (said !== undefined) {
        await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.Uri.parse(root), 'docs', 'performance_report.md'));
      }
    },
  };
  return vscode.Disposable.from(
    pages,
    ...Object.entries(commands).map(([name, command]) =>
      vscode.commands.registerCommand(name, async (named: Named) => {
        const root = await rootOf(store, named, ofShmem);
        if (root) {
          await command(root).then(undefined, (error: unknown) => vscode.window.showErrorMessage(messageOf(error)));
        }
      }),
    ),
  );
}

/** What opdev said of what it wrote; undefined when the user gave up. */
async function write(server: Server, title: string, words: readonly string[]): Promise<string | undefined> {
  const ran = await opdevWithProgress(server, title, words);
  if (ran && ran.status !== 0) {
    throw new Error(ran.output.trim());
  }
  return ran?.output.trim();
}

async function showReport(root: string): Promise<void> {
  const folder = vscode.Uri.parse(root);
  const found = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, '{docs,baseline}/**/*.md'), null, 200);
  const readme = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, 'README.md'), null, 1);
  const items = [...readme, ...found]
    .map((uri) => ({ label: path.posix.basename(uri.path), description: uri.path.slice(folder.path.length + 1), uri }))
    .sort((a, b) => a.description.localeCompare(b.description));
  const title = vscode.l10n.t('Which report?');
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  if (chosen) {
    await vscode.commands.executeCommand('markdown.showPreview', chosen.uri);
  }
}
