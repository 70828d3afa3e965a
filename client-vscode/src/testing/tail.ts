// The raw logs of a run as they grow, line by line; a line that is being written waits for its end.
import { log, messageOf } from '../log';
import type { RunEvent, RunLogResult } from '../protocol';
import type { Server } from '../server/server';

const PAGE = 2_000;
const SOON_MS = 200;

export class Tail {
  private readonly lines = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly server: Server,
    private readonly root: string,
    private readonly run: string,
    /** Takes lines; whether more are wanted. */
    private readonly take: (lines: readonly string[]) => boolean,
  ) {}

  heard(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'output' && typeof event.log === 'string' && !this.lines.has(event.log)) {
        this.lines.set(event.log, 0);
      }
    }
    if (events.some((event) => event.type === 'output')) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        void this.read(false);
      }, SOON_MS);
    }
  }

  /** The run has ended: all that is left. */
  end(): Promise<void> {
    clearTimeout(this.timer);
    return this.read(true);
  }

  private read(whole: boolean): Promise<void> {
    this.reading = this.reading.then(async () => {
      try {
        for (const name of [...this.lines.keys()].sort()) {
          await this.follow(name, whole);
        }
      } catch (error) {
        log().warn(`opdev/runLog: ${messageOf(error)}`);
      }
    });
    return this.reading;
  }

  private async follow(name: string, whole: boolean): Promise<void> {
    for (let more = true; more; ) {
      const line = this.lines.get(name) ?? 0;
      const asked = { root: this.root, run: this.run, log: name, line, count: PAGE };
      const page = await this.server.client?.sendRequest<RunLogResult>('opdev/runLog', asked);
      if (!page) {
        return;
      }
      const atEnd = line + page.lines.length >= page.total;
      const ready = page.partial && !whole ? page.lines.slice(0, -1) : page.lines;
      this.lines.set(name, line + ready.length);
      more = this.take(ready) && !atEnd && ready.length > 0;
    }
  }
}
