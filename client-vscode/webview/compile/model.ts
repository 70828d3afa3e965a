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

const MOST_LINES = 300_000;
/** Dropped at once: moving hundreds of thousands of lines for each new one would be felt. */
const DROPPED_LINES = 50_000;
const MOST_FOUND = 2_000;
const LONGEST = 4_000;

export class Compile {
  found: Found[] = [];
  diagnoses: Diagnosis[] = [];
  lines: string[] = [];
  /** How many lines were dropped at the top to stay within bounds. */
  dropped = 0;
  private lastLog = '';
  private filter: { wanted: string; lines: string[]; upTo: number } | undefined;

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

  add(log: string, lines: readonly string[]): void {
    if (log !== this.lastLog) {
      this.lastLog = log;
      this.lines.push(`━━ ${log}`);
    }
    for (const line of lines) {
      this.lines.push(line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line);
    }
    if (this.lines.length > MOST_LINES) {
      this.lines = this.lines.slice(DROPPED_LINES);
      this.dropped += DROPPED_LINES;
      this.filter = undefined;
    }
  }

  /** The lines that hold a text, case aside; all of them without one. */
  matching(text: string): readonly string[] {
    const wanted = text.trim().toLowerCase();
    if (!wanted) {
      return this.lines;
    }
    if (this.filter?.wanted !== wanted) {
      this.filter = { wanted, lines: [], upTo: 0 };
    }
    // Only what came since: a log that grows is asked again at every frame.
    for (; this.filter.upTo < this.lines.length; this.filter.upTo += 1) {
      const line = this.lines[this.filter.upTo] ?? '';
      if (line.toLowerCase().includes(wanted)) {
        this.filter.lines.push(line);
      }
    }
    return this.filter.lines;
  }
}
