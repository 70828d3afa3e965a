// The language client: one server process, in the environment that was found.
import * as vscode from 'vscode';
import type {
  ClientCapabilities,
  CloseHandlerResult,
  ErrorHandlerResult,
  LanguageClientOptions,
  ServerOptions,
  StaticFeature,
} from 'vscode-languageclient/node';
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } from 'vscode-languageclient/node';
import { log } from '../log';
import type { Found } from '../python/find';
import type { Crashes } from './crashes';
import { initializationOptions } from './options';

const LANGUAGES = [
  'cpp', 'c', 'cuda-cpp', 'python', 'shellscript', 'cmake', 'markdown', 'json', 'jsonc', 'yaml', 'toml', 'log', 'ascendc',
];

/** Says which of the server's own messages this client takes. */
class Experimental implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const before: unknown = capabilities.experimental;
    capabilities.experimental = {
      ...(typeof before === 'object' ? before : {}),
      opdev: { operatorsChanged: true, runEvents: true },
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

/** A client for the server of `found`; not started yet. `gaveUp` is called when it will not be started again. */
export function makeClient(found: Found, crashes: Crashes, gaveUp: (reason: string) => void): LanguageClient {
  const run = {
    command: found.candidate.python,
    args: [...found.answer.options, '-m', 'opdev.lsp', '--stdio'],
    // In its own group it would outlive the editor; the server watches its parent anyway.
    options: { env: { ...process.env, PYTHONUTF8: '1' } },
  };
  const server: ServerOptions = { run, debug: run };
  const options: LanguageClientOptions = {
    documentSelector: [
      ...LANGUAGES.map((language) => ({ scheme: 'file', language })),
      { scheme: 'file', pattern: '**/*.{asc,aicpu,cce,log}' },
    ],
    initializationOptions,
    outputChannel: log(),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: false,
    errorHandler: {
      error: (): ErrorHandlerResult => ({ action: ErrorAction.Continue }),
      closed: (): CloseHandlerResult => {
        const reason = vscode.l10n.t('the server ended unexpectedly');
        if (crashes.note(reason, Date.now())) {
          return { action: CloseAction.Restart, handled: true };
        }
        gaveUp(reason);
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
  const client = new LanguageClient('opdev', 'opdev', server, options);
  client.registerFeature(new Experimental());
  return client;
}
