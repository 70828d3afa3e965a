// The server's life: found, started, and started anew only when that would change anything.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { State } from 'vscode-languageclient/node';
import { log, messageOf } from '../log';
import type { Found, NotFound } from '../python/find';
import { find, sameServer } from '../python/find';
import { makeClient } from './client';
import { Crashes } from './crashes';
import { Serial } from './serial';
import type { Places } from '../python/candidates';

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

export class Server implements vscode.Disposable {
  private readonly serial = new Serial();
  private readonly changed = new vscode.EventEmitter<Health>();
  private readonly attachments: Attach[] = [];
  private current: { client: LanguageClient; found: Found; parts: Part[] } | undefined;
  private now: Health = { kind: 'stopped' };
  readonly crashes = new Crashes();
  readonly onChanged = this.changed.event;

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
    return this.serial.request(async () => {
      const result = await find(this.places());
      if (!result.candidate) {
        await this.end();
        this.say({ kind: 'missing', result });
        return;
      }
      if (!always && this.current && this.now.kind === 'running' && sameServer(this.current.found, result)) {
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
      this.say({ kind: 'stopped' });
    });
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async start(found: Found): Promise<void> {
    this.say({ kind: 'starting' });
    log().info(`starting ${found.candidate.python} (${found.candidate.origin}), opdev ${found.answer.opdev ?? '?'}`);
    const client = makeClient(found, this.crashes, (reason) => this.say({ kind: 'failed', reason }));
    const running: Health = { kind: 'running', found, version: found.answer.opdev ?? '' };
    const parts: Part[] = [
      client.onDidChangeState((event) => {
        // A server that was started again by itself.
        if (event.newState === State.Running && this.current?.client === client) {
          this.say(running);
        }
      }),
    ];
    this.current = { client, found, parts };
    try {
      await client.start();
    } catch (error) {
      log().error(`the server did not start: ${messageOf(error)}`);
      this.say({ kind: 'failed', reason: messageOf(error) });
      return;
    }
    parts.push(...this.attachments.map((part) => part(client)));
    this.say(running);
  }

  private async end(): Promise<void> {
    const ending = this.current;
    this.current = undefined;
    if (!ending) {
      return;
    }
    for (const part of ending.parts) {
      part.dispose();
    }
    try {
      await ending.client.dispose(5_000);
    } catch (error) {
      log().warn(`the server did not stop in time: ${messageOf(error)}`);
    }
  }

  private say(health: Health): void {
    this.now = health;
    this.changed.fire(health);
  }
}
