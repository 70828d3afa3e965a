// What the compile panel shows: errors by file, why a step failed, and the log's lines.
import type { RunEvent } from '../../src/protocol';

export interface Found {
  severity: string;
  message: string;
  path: string | null;
  line: number;
  column: number;
  resolved: boolean;
  flag: string | null;
}

export interface Diagnosis {
  cause: unknown;
  next: unknown;
  evidence: string;
}

/** What the heading of a log begins with. */
const HEADING = '━━ ';
export const isHeading = (line: string): boolean => line.startsWith(HEADING);
const MOST_LINES = 300_000;
/** Dropped at once: moving hundreds of thousands of lines for each new one would be felt. */
const DROPPED_LINES = 50_000;
const MOST_FOUND = 2_000;
const LONGEST = 4_000;

const cut = (line: string): string => (line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line);

/** A heading where another log goes on, how many lines have not come yet, and the end. */
export interface Rest {
  heading: string;
  missing: number;
  lines: readonly string[];
}

const NO_REST: Rest = { heading: '', missing: 0, lines: [] };

export class Compile {
  found: Found[] = [];
  diagnoses: Diagnosis[] = [];
  lines: string[] = [];
  /** How many lines were dropped at the top to stay within bounds. */
  dropped = 0;
  private lastLog = '';
  /** How many lines of each log have come. */
  private readonly come = new Map<string, number>();
  /** The end of a log whose lines before it have not come. */
  private ahead: { log: string; line: number; lines: string[] } | undefined;
  /** Where the last line of a log stands that has no end yet, counted with what was dropped. */
  private readonly partial = new Map<string, number>();
  /** Logs of which only the headings are shown. */
  private readonly folded = new Set<string>();
  /** What is shown of the lines while something is folded; found as far as `upTo`. */
  private open: { lines: string[]; hidden: boolean; upTo: number } | undefined;
  /** `at` is where each line of it stands. */
  private filter: { wanted: string; lines: string[]; at: number[]; upTo: number } | undefined;

  take(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'diagnostic' && event.severity !== 'note' && this.found.length < MOST_FOUND) {
        this.found.push({
          severity: String(event.severity),
          message: String(event.message),
          path: typeof event.path === 'string' ? event.path : null,
          line: Number(event.line ?? 0),
          column: Number(event.column ?? 0),
          resolved: event.resolved === true,
          flag: typeof event.flag === 'string' ? event.flag : null,
        });
      } else if (event.type === 'diagnosis' && event.rank === 0) {
        this.diagnoses.push({ cause: event.cause, next: event.next, evidence: String(event.evidence) });
      }
    }
  }

  /** More lines of a log; `partial`: the last one has no end yet, and the next that come begin with it anew. */
  add(log: string, lines: readonly string[], partial: boolean): void {
    const shown = lines.map(cut);
    this.come.set(log, (this.come.get(log) ?? 0) + lines.length - (this.partial.has(log) ? 1 : 0));
    let last = this.replace(log, shown);
    if (shown.length && log !== this.lastLog) {
      this.lastLog = log;
      this.lines.push(`${HEADING}${log}`);
    }
    for (const line of shown) {
      last = this.lines.push(line) - 1 + this.dropped;
    }
    if (partial) {
      this.partial.set(log, last);
    }
    if (this.lines.length > MOST_LINES) {
      this.lines = this.lines.slice(DROPPED_LINES);
      this.dropped += DROPPED_LINES;
      this.filter = undefined;
      this.open = undefined;
    }
  }

  /** The end of a log from a line on, where not all before it has come. */
  end(log: string, line: number, lines: readonly string[]): void {
    this.ahead = { log, line, lines: lines.map(cut) };
  }

  /** What follows the lines that have come. */
  rest(): Rest {
    const { ahead } = this;
    const come = this.come.get(ahead?.log ?? '') ?? 0;
    if (!ahead || come >= ahead.line + ahead.lines.length) {
      this.ahead = undefined;
      return NO_REST;
    }
    const heading = ahead.log === this.lastLog ? '' : `${HEADING}${ahead.log}`;
    return { heading, missing: Math.max(0, ahead.line - come), lines: ahead.lines.slice(Math.max(0, come - ahead.line)) };
  }

  /** What is shown of the rest: nothing where lines are filtered or its log is folded. */
  shownRest(filter: string): Rest {
    const rest = this.rest();
    return filter.trim() || this.folded.has(`${HEADING}${this.ahead?.log ?? ''}`) ? NO_REST : rest;
  }

  /** Puts the first line where its beginning stands, if that was shown; its place, -1 for none. */
  private replace(log: string, lines: string[]): number {
    const place = this.partial.get(log);
    if (place === undefined) {
      return -1;
    }
    this.partial.delete(log);
    const [line] = lines.splice(0, 1);
    const at = place - this.dropped;
    if (line !== undefined && at >= 0 && this.lines[at] !== line) {
      this.lines[at] = line;
      this.forget(at);
    }
    return place;
  }

  /** What the filter knows of the lines from one on is to be found anew. */
  private forget(first: number): void {
    this.open = undefined;
    const { filter } = this;
    if (filter && filter.upTo > first) {
      while ((filter.at.at(-1) ?? -1) >= first) {
        filter.at.pop();
        filter.lines.pop();
      }
      filter.upTo = first;
    }
  }

  /** Whether of a log, named by its heading, only headings are shown. */
  isFolded(heading: string): boolean {
    return this.folded.has(heading);
  }

  fold(heading: string, folded: boolean): void {
    this.folded[folded ? 'add' : 'delete'](heading);
    this.open = undefined;
  }

  /** Every log there is, or none. */
  foldAll(folded: boolean): void {
    this.folded.clear();
    for (const line of folded ? this.lines : []) {
      if (isHeading(line)) {
        this.folded.add(line);
      }
    }
    this.open = undefined;
  }

  /** The lines of logs that are not folded. */
  private unfolded(): readonly string[] {
    if (!this.folded.size) {
      return this.lines;
    }
    this.open ??= { lines: [], hidden: false, upTo: 0 };
    for (const { open } = this; open.upTo < this.lines.length; open.upTo += 1) {
      const line = this.lines[open.upTo] ?? '';
      const heading = isHeading(line);
      open.hidden = heading ? this.folded.has(line) : open.hidden;
      if (heading || !open.hidden) {
        open.lines.push(line);
      }
    }
    return this.open.lines;
  }

  /** The lines that hold a text, case aside, folded or not; without one those that are not folded. */
  matching(text: string): readonly string[] {
    const wanted = text.trim().toLowerCase();
    if (!wanted) {
      return this.unfolded();
    }
    if (this.filter?.wanted !== wanted) {
      this.filter = { wanted, lines: [], at: [], upTo: 0 };
    }
    // Only what came since: a log that grows is asked again at every frame.
    for (; this.filter.upTo < this.lines.length; this.filter.upTo += 1) {
      const line = this.lines[this.filter.upTo] ?? '';
      if (line.toLowerCase().includes(wanted)) {
        this.filter.lines.push(line);
        this.filter.at.push(this.filter.upTo);
      }
    }
    return this.filter.lines;
  }
}
