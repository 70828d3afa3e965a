// The server's life: found, started, and started anew only when that would change anything, or when it died.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { State } from 'vscode-languageclient/node';
import { log, messageOf } from '../log';
import type { Places } from '../python/candidates';
import type { Found, NotFound } from '../python/find';
import { find, sameServer } from '../python/find';
import { makeClient } from './client';
import { Crashes } from './crashes';
import { KeptDiagnostics } from './diagnostics';
import { ServerProcess } from './process';
import { Serial } from './serial';

export type Health =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly found: Found; readonly version: string }
  | { readonly kind: 'missing'; readonly result: NotFound }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped' };

/** What can be disposed of: VS Code's own and the client's are of different classes. */
export interface Part {
  dispose(): unknown;
}

/** Sets up what depends on a running client; disposed with it. */
export type Attach = (client: LanguageClient) => Part;

interface Current {
  readonly client: LanguageClient;
  readonly process: ServerProcess;
  readonly found: Found;
  readonly parts: Part[];
}

const PATIENCE_MS = 60_000;
const GOODBYE_MS = 5_000;

export class Server implements vscode.Disposable {
  private readonly serial = new Serial();
  private readonly changed = new vscode.EventEmitter<Health>();
  private readonly timed = new vscode.EventEmitter<{ uri: vscode.Uri; milliseconds: number }>();
  private readonly diagnostics = new KeptDiagnostics();
  private readonly attachments: Attach[] = [];
  private current: Current | undefined;
  private always = false;
  private now: Health = { kind: 'stopped' };
  readonly crashes = new Crashes();
  readonly onChanged = this.changed.event;
  /** How long the findings of a document took. */
  readonly onTimed = this.timed.event;
  /** The last event of each run the client has, for the next server. */
  known: () => Record<string, number> = () => ({});

  constructor(private readonly places: () => Places) {}

  get health(): Health {
    return this.now;
  }

  /** The client while the server runs. */
  get client(): LanguageClient | undefined {
    return this.now.kind === 'running' ? this.current?.client : undefined;
  }

  /** Something for every client from now on, the one that runs included. */
  attach(part: Attach): void {
    this.attachments.push(part);
    if (this.current && this.now.kind === 'running') {
      this.current.parts.push(part(this.current.client));
    }
  }

  /** Looks for the environment anew, and starts the server if that gives another answer (or `always`). */
  refresh(always = false): Promise<void> {
    this.always ||= always;
    return this.serial.request(async () => {
      const result = await find(this.places());
      if (this.serial.superseded) {
        // Whoever asked meanwhile gets an answer to what is true now, and one start is enough.
        return;
      }
      const wanted = this.always;
      this.always = false;
      if (!result.candidate) {
        await this.end();
        this.diagnostics.drop();
        this.say({ kind: 'missing', result });
        return;
      }
      if (!wanted && this.current && this.now.kind === 'running' && sameServer(this.current.found, result)) {
        log().info(`${result.candidate.python} is what runs already`);
        return;
      }
      await this.end();
      await this.start(result);
    });
  }

  /** Starts the server anew because the user said so. */
  async restart(): Promise<void> {
    this.crashes.forget();
    await this.refresh(true);
  }

  stop(): Promise<void> {
    return this.serial.request(async () => {
      await this.end();
      this.diagnostics.drop();
      this.say({ kind: 'stopped' });
    });
  }

  dispose(): void {
    this.changed.dispose();
    this.timed.dispose();
    this.diagnostics.dispose();
  }

  private async start(found: Found): Promise<void> {
    this.say({ kind: 'starting' });
    log().info(`starting ${found.candidate.python} (${found.candidate.origin}), opdev ${found.answer.opdev ?? '?'}`);
    const process = new ServerProcess(found);
    const client = makeClient(() => process.start(), this.diagnostics, this.known, {
      died: () => this.died(current),
      took: (uri, milliseconds) => this.timed.fire({ uri, milliseconds }),
    });
    const current: Current = { client, process, found, parts: [] };
    this.current = current;
    try {
      await within(client.start(), PATIENCE_MS);
    } catch (error) {
      process.kill();
      log().error(`the server did not start: ${messageOf(error)}`);
      if (this.current === current && this.now.kind === 'starting') {
        // One that ended while it started was noted as dead already.
        this.died(current);
      }
      return;
    }
    if (client.state !== State.Running) {
      return;
    }
    this.diagnostics.release();
    current.parts.push(...this.attachments.map((part) => part(client)));
    this.say({ kind: 'running', found, version: found.answer.opdev ?? '' });
  }

  /** It ended by itself: another one is started, unless that happens all the time. */
  private died(dead: Current): void {
    if (this.current !== dead) {
      return;
    }
    this.current = undefined;
    this.diagnostics.hold();
    detach(dead);
    const reason = vscode.l10n.t('the server ended unexpectedly');
    const again = this.crashes.note(reason, Date.now());
    void dead.process.end().then((how) => log().warn(`the server ended: ${how}; ${again ? 'it is started again' : 'it is left alone'}`));
    if (again) {
      this.say({ kind: 'starting' });
      void this.refresh(true);
    } else {
      this.diagnostics.drop();
      this.say({ kind: 'failed', reason });
    }
  }

  private async end(): Promise<void> {
    const ending = this.current;
    this.current = undefined;
    if (!ending) {
      return;
    }
    detach(ending);
    try {
      await ending.client.dispose(GOODBYE_MS);
    } catch (error) {
      log().warn(`the server did not stop in time: ${messageOf(error)}`);
    }
    ending.process.kill();
  }

  private say(health: Health): void {
    this.now = health;
    this.changed.fire(health);
  }
}

function detach(one: Current): void {
  for (const part of one.parts.splice(0)) {
    part.dispose();
  }
}

function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
