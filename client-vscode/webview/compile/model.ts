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
const MOST_FOUND = 2_000;
const LONGEST = 4_000;

export class Compile {
  found: Found[] = [];
  diagnoses: Diagnosis[] = [];
  lines: string[] = [];
  /** How many lines were dropped at the top to stay within bounds. */
  dropped = 0;
  private lastLog = '';

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
    const over = this.lines.length - MOST_LINES;
    if (over > 0) {
      this.lines.splice(0, over);
      this.dropped += over;
    }
  }

  /** The lines that hold a text, case aside; all of them without one. */
  matching(text: string): readonly string[] {
    const wanted = text.trim().toLowerCase();
    return wanted ? this.lines.filter((line) => line.toLowerCase().includes(wanted)) : this.lines;
  }
}
