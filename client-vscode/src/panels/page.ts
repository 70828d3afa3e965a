// The HTML of a panel: local files only, under a policy that allows nothing else.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Kind } from './messages';

export function folderOfPages(context: vscode.ExtensionContext): vscode.Uri {
  return vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview');
}

export function page(context: vscode.ExtensionContext, webview: vscode.Webview, kind: Kind, title: string): string {
  const nonce = randomBytes(16).toString('base64');
  const of = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folderOfPages(context), name)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource} 'unsafe-inline'`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${of(`${kind}.main.css`)}">
<title>${title}</title>
</head>
<body>
<div id="app"></div>
<script nonce="${nonce}" src="${of(`${kind}.main.js`)}"></script>
</body>
</html>`;
}
