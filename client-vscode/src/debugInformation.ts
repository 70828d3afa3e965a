// Everything a report of a fault should have, as a document the user reads before sending it.
import * as vscode from 'vscode';
import type { Server } from './server/server';

export async function debugInformation(context: vscode.ExtensionContext, server: Server): Promise<void> {
  const health = server.health;
  const extension = context.extension.packageJSON as { version: string };
  const information = {
    editor: `${vscode.env.appName} ${vscode.version}`,
    remote: vscode.env.remoteName ?? null,
    language: vscode.env.language,
    extension: extension.version,
    platform: `${process.platform} ${process.arch}`,
    trusted: vscode.workspace.isTrusted,
    server: health.kind,
    reason: health.kind === 'failed' ? health.reason : null,
    python: health.kind === 'running' ? health.found.candidate : null,
    tried: health.kind === 'running' ? health.found.tried : health.kind === 'missing' ? health.result.tried : null,
    crashes: server.crashes.history.map((one) => ({ at: new Date(one.at).toISOString(), reason: one.reason })),
    settings: vscode.workspace.getConfiguration('opdev'),
  };
  const document = await vscode.workspace.openTextDocument({
    language: 'json',
    content: `${JSON.stringify(information, null, 2)}\n`,
  });
  await vscode.window.showTextDocument(document);
}
