// The events of one run (or of whatever runs last) in order, from the past and live, none twice and none lost.
import { log, messageOf } from '../log';
import type { Store } from '../operators/store';
import type { RunEvent, RunEventParams, RunEventsResult, RunState } from '../protocol';
import type { Server } from '../server/server';
import type { Target } from './messages';

const PAGE = 2_000;

export interface Listener {
  begins(run: string | null, simulated: boolean): void;
  comes(events: RunEvent[], state: RunState): void;
}

export class Feed {
  private run: string | null;
  private last = -1;
  private early: RunEventParams[] = [];
  private filling = false;
  /** How often the record was asked for; one more than was answered: it has to be read once more. */
  private wanted = 0;
  /** Whether the page is there; the server may come later, and another one after it. */
  private ready = false;
  private begun = false;
  private readonly heard: { dispose(): void }[];

  constructor(
    private readonly server: Server,
    private readonly store: Store,
    private target: Target,
    private readonly listener: Listener,
  ) {
    this.run = target.run;
    this.heard = [
      store.onRunEvents((params) => this.live(params)),
      server.onChanged((health) => {
        if (health.kind === 'running' && this.ready) {
          void (this.begun ? this.again() : this.begin()).catch((error: unknown) => log().warn(messageOf(error)));
        }
      }),
    ];
  }

  dispose(): void {
    for (const one of this.heard) {
      one.dispose();
    }
  }

  /** From the beginning: what is on record, then what comes. Without a server as soon as there is one. */
  async begin(): Promise<void> {
    this.ready = true;
    if (!this.server.client) {
      return;
    }
    this.begun = true;
    const history = await this.store.history(this.target.root);
    this.run = this.target.run ?? history[0]?.run ?? null;
    const record = history.find((one) => one.run === this.run);
    this.last = -1;
    this.listener.begins(this.run, record?.backend === 'sim');
    await this.fill();
  }

  /** Another run of the operator from now on. */
  async show(target: Target): Promise<void> {
    this.target = target;
    await this.begin();
  }

  /** Another server: what happened between the two is on record. */
  private async again(): Promise<void> {
    const newest = this.target.run ?? (await this.store.history(this.target.root))[0]?.run ?? null;
    await (newest === this.run ? this.fill() : this.begin());
  }

  private live(params: RunEventParams): void {
    if (params.root !== this.target.root) {
      return;
    }
    if (this.target.run === null && params.run !== this.run && params.events.some((event) => event.seq === 0)) {
      this.run = params.run;
      this.last = -1;
      this.listener.begins(this.run, params.events[0]?.backend === 'sim');
    }
    if (params.run !== this.run) {
      return;
    }
    if (this.filling) {
      this.early.push(params);
    } else {
      this.take(params.events, params.state);
    }
  }

  /** Hands on what is new; a gap is filled from the record. */
  private take(events: RunEvent[], state: RunState): void {
    const fresh = events.filter((event) => event.seq > this.last);
    const first = fresh[0];
    if (first && first.seq > this.last + 1) {
      this.fill().catch((error: unknown) => log().warn(messageOf(error)));
      return;
    }
    this.last = fresh.at(-1)?.seq ?? this.last;
    this.listener.comes(fresh, state);
  }

  private async fill(): Promise<void> {
    this.wanted += 1;
    if (this.filling) {
      return;
    }
    this.filling = true;
    try {
      for (let done = 0; done < this.wanted; ) {
        done = this.wanted;
        await this.read();
      }
    } finally {
      this.wanted = 0;
      this.filling = false;
    }
    const early = this.early;
    this.early = [];
    for (const params of early) {
      this.live(params);
    }
  }

  private async read(): Promise<void> {
    const client = this.server.client;
    const run = this.run;
    for (let more = true; more && client && run !== null && run === this.run; ) {
      const asked = { root: this.target.root, run, after: this.last, limit: PAGE };
      const result: RunEventsResult = await client.sendRequest('opdev/runEvents', asked);
      if (run !== this.run) {
        this.wanted += 1;
        return;
      }
      this.last = result.events.at(-1)?.seq ?? this.last;
      this.listener.comes(result.events, result.state);
      more = result.more && result.events.length > 0;
    }
  }
}
