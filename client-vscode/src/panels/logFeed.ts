// The raw logs of a run for the page that shows them: fetched in pages as they grow, not at every event.
// A log that grows faster than anybody reads is shown by its end; what lies before it comes when it grows no more, or
// when the page wants it.
import { log, messageOf } from '../log';
import type { RunEvent, RunLogResult } from '../protocol';
import type { Server } from '../server/server';
import type { ToPage } from './messages';

const PAGE = 10_000;
/** What is shown of the end of a log that is far ahead: some screens full. */
const END = 300;
const SOON_MS = 150;
/** Between two pages: what the editor needs to stay quick while the log comes in faster than anybody reads. */
const PAUSE_MS = 250;

export class LogFeed {
  private run: string | null = null;
  /** How many whole lines of each log were sent. */
  private readonly lines = new Map<string, number>();
  private readonly grown = new Set<string>();
  /** How long each log was when its end was looked at. */
  private readonly seen = new Map<string, number>();
  private whole = false;
  private timer: NodeJS.Timeout | undefined;
  private reading = false;

  constructor(
    private readonly server: Server,
    private readonly root: string,
    private readonly send: (message: ToPage) => void,
  ) {}

  begin(run: string | null): void {
    this.run = run;
    this.lines.clear();
    this.grown.clear();
    this.seen.clear();
    this.whole = false;
  }

  /** Whether the page wants all lines now: it is filtered, or scrolled to what has not come yet. */
  want(whole: boolean): void {
    this.whole = whole;
  }

  comes(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'output' && typeof event.log === 'string') {
        this.grown.add(event.log);
      }
    }
    if (this.grown.size) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        void this.read();
      }, SOON_MS);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.run = null;
  }

  private async read(): Promise<void> {
    if (this.reading) {
      this.comes([]);
      return;
    }
    this.reading = true;
    try {
      // One that is ahead is taken up again, after the others.
      for (let [name] = this.grown; name !== undefined; [name] = this.grown) {
        const one = name;
        this.grown.delete(one);
        await this.follow(one).catch((error: unknown) => {
          // A server that died: the next one has it.
          this.grown.add(one);
          throw error;
        });
      }
    } catch (error) {
      log().warn(`opdev/runLog: ${messageOf(error)}`);
    } finally {
      this.reading = false;
    }
  }

  private async follow(name: string): Promise<void> {
    const { run, root } = this;
    const client = this.server.client;
    while (client && run !== null && run === this.run) {
      const line = this.lines.get(name) ?? 0;
      let page: RunLogResult | undefined;
      if (!this.whole) {
        const end: RunLogResult = await client.sendRequest('opdev/runLog', { root, run, log: name, line: -END, count: END });
        const grows = end.total !== this.seen.get(name);
        this.seen.set(name, end.total);
        if (run === this.run && grows && end.line > line + PAGE) {
          this.send({ type: 'ahead', log: name, line: end.line, lines: end.lines });
          this.grown.add(name);
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
          return;
        }
        if (end.line <= line) {
          // Mostly it is all that is new.
          page = { ...end, line, lines: end.lines.slice(line - end.line) };
        }
      }
      page ??= await client.sendRequest<RunLogResult>('opdev/runLog', { root, run, log: name, line, count: PAGE });
      if (run !== this.run || !page.lines.length) {
        return;
      }
      // One without an end is asked for again when there is more; it is the last one if nothing more comes.
      this.lines.set(name, line + page.lines.length - (page.partial ? 1 : 0));
      this.send({ type: 'log', log: name, line, lines: page.lines, partial: page.partial });
      if (line + page.lines.length >= page.total) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
