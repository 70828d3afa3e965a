// The language client: one server process, in the environment that was found.
import * as vscode from 'vscode';
import type {
  ClientCapabilities,
  CloseHandlerResult,
  DiagnosticCollectionProvider,
  ErrorHandlerResult,
  LanguageClientOptions,
  MessageSignature,
  ServerOptions,
  StaticFeature,
} from 'vscode-languageclient/node';
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn, State } from 'vscode-languageclient/node';
import { log } from '../log';
import { initializationOptions } from './options';

const LANGUAGES = [
  'cpp', 'c', 'cuda-cpp', 'python', 'shellscript', 'cmake', 'markdown', 'json', 'jsonc', 'yaml', 'toml', 'log', 'ascendc',
];

/** Says which of the server's own messages this client takes, and which events of runs it has already. */
class Experimental implements StaticFeature {
  constructor(private readonly known: () => Record<string, number>) {}

  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const before: unknown = capabilities.experimental;
    capabilities.experimental = {
      ...(typeof before === 'object' ? before : {}),
      opdev: { operatorsChanged: true, runEvents: { after: this.known() } },
    };
  }

  initialize(): void {
    // Nothing to register: the views listen by themselves.
  }

  getState(): { kind: 'static' } {
    return { kind: 'static' };
  }

  clear(): void {
    // Nothing is kept.
  }
}

/** Once the server is being stopped, or is gone, what the editor still asked for has no answer: that is no failure. */
class Client extends LanguageClient {
  override handleFailedRequest<T>(
    type: MessageSignature, token: vscode.CancellationToken | undefined, error: unknown, otherwise: T, tell?: boolean, cancels?: boolean,
  ): T {
    return this.state === State.Stopped ? otherwise : super.handleFailedRequest(type, token, error, otherwise, tell, cancels);
  }
}

/** What a client tells while it lives. */
export interface Life {
  /** The server ended though nobody asked it to. */
  died(): void;
  /** How long a document's own findings took. */
  took(uri: vscode.Uri, milliseconds: number): void;
}

/** A client for the server that `start` starts; not started yet. It never starts another one by itself. */
export function makeClient(
  start: ServerOptions & (() => Promise<unknown>),
  diagnostics: DiagnosticCollectionProvider,
  known: () => Record<string, number>,
  life: Life,
): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [
      ...LANGUAGES.map((language) => ({ scheme: 'file', language })),
      { scheme: 'file', pattern: '**/*.{asc,aicpu,cce,log}' },
    ],
    initializationOptions,
    outputChannel: log(),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: false,
    diagnosticCollectionProvider: diagnostics,
    errorHandler: {
      error: (): ErrorHandlerResult => ({ action: ErrorAction.Continue, handled: true }),
      closed: (): CloseHandlerResult => {
        life.died();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    middleware: {
      provideDiagnostics: async (document, previous, token, next) => {
        const began = performance.now();
        const report = await next(document, previous, token);
        if (!token.isCancellationRequested) {
          life.took('uri' in document ? document.uri : document, performance.now() - began);
        }
        return report;
      },
    },
  };
  const client = new Client('opdev', 'opdev', start, options);
  client.registerFeature(new Experimental(known));
  return client;
}
