// Findings outlive a server that died: they stay until the next one has its own for the file, or a while has passed.
import * as vscode from 'vscode';
import type { DiagnosticCollectionProvider, DiagnosticCollectionSource } from 'vscode-languageclient/node';

interface Old {
  readonly source: DiagnosticCollectionSource;
  readonly collection: vscode.DiagnosticCollection;
}

const LONGEST_MS = 20_000;

export class KeptDiagnostics implements DiagnosticCollectionProvider, vscode.Disposable {
  private old: Old[] = [];
  private holding = false;
  private timer: NodeJS.Timeout | undefined;

  /** The server died: what is disposed of from now on stays on the screen. */
  hold(): void {
    this.holding = true;
  }

  /** A server runs: what it does not speak of goes after a while. */
  release(): void {
    this.holding = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.drop(), LONGEST_MS);
  }

  /** No server will come. */
  drop(): void {
    this.holding = false;
    clearTimeout(this.timer);
    for (const { collection } of this.old) {
      collection.dispose();
    }
    this.old = [];
  }

  create(name: string | undefined, source: DiagnosticCollectionSource): vscode.DiagnosticCollection {
    const made = vscode.languages.createDiagnosticCollection(`${name ?? 'opdev'} ${source}`);
    const heard = (uri: vscode.Uri): void => {
      for (const one of this.old) {
        if (one.source === source) {
          one.collection.delete(uri);
        }
      }
    };
    return new Proxy(made, {
      get(target, key): unknown {
        if (key === 'set') {
          return (uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[] | undefined): void => {
            target.set(uri, diagnostics);
            heard(uri);
          };
        }
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  dispose(collection?: vscode.DiagnosticCollection, source?: DiagnosticCollectionSource): void {
    if (!collection) {
      this.drop();
    } else if (this.holding && source !== undefined) {
      this.old.push({ source, collection });
    } else {
      collection.dispose();
    }
  }
}
