// A run's output on its way to the test view: in batches, lines clipped, and never more than the view can take.
// Many small pieces freeze the editor, long lines do so alone; all of it stands in the run's log anyway.

/** Time between two batches, at least. */
export const EVERY_MS = 100;
const LONGEST = 500;
const MOST = 512 * 1024;

export class Output {
  private waiting: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private size = 0;

  /** `more` is the last line where there was too much. */
  constructor(
    private readonly write: (text: string) => void,
    private readonly more: string,
    private readonly most = MOST,
  ) {}

  /** Whether nothing more is taken. */
  get full(): boolean {
    return this.size > this.most;
  }

  add(lines: readonly string[]): void {
    for (const line of this.full ? [] : lines) {
      const shown = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
      this.size += shown.length + 2;
      if (this.size > this.most) {
        this.waiting.push(this.more);
        break;
      }
      this.waiting.push(shown);
    }
    if (this.waiting.length) {
      this.timer ??= setTimeout(() => this.flush(), EVERY_MS);
    }
  }

  /** What waits goes out now. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting.length) {
      // A terminal wants both characters at the end of a line.
      this.write(`${this.waiting.join('\r\n')}\r\n`);
      this.waiting = [];
    }
  }
}
