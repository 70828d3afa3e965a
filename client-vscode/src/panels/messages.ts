// What goes between a panel's host and its page.
import type { RunEvent, RunState } from '../protocol';

export type Kind = 'compile' | 'precision' | 'performance';

/** What a panel shows: one run, or always the operator's newest. */
export interface Target {
  readonly root: string;
  /** Null: whatever ran last, and what is started next. */
  readonly run: string | null;
}

export type ToPage =
  /** Begin anew with this run; `texts` are the page's words in the user's language. */
  | {
      type: 'reset';
      target: Target;
      operator: string;
      run: string | null;
      simulated: boolean;
      texts: Record<string, string>;
    }
  | { type: 'events'; events: RunEvent[]; state: RunState }
  /** More of a raw log: lines from number `line` on; a `partial` last one has no end yet and comes again. */
  | { type: 'log'; log: string; line: number; lines: string[]; partial: boolean }
  /** The end of a log that grows faster than its lines are sent: what stands there until all before it has come. */
  | { type: 'ahead'; log: string; line: number; lines: string[] }
  /** Data that was asked for by the request with this id. */
  | { type: 'data'; id: number; data: unknown; problem: string | null };

export type ToHost =
  | { type: 'ready' }
  | { type: 'open'; path: string; line: number; column: number }
  | { type: 'request'; id: number; request: string; arguments: Record<string, unknown> }
  /** Another run is to be shown; null: whatever ran last. */
  | { type: 'show'; run: string | null }
  /** Whether every line of the logs is wanted as they grow, not the end alone. */
  | { type: 'whole'; wanted: boolean }
  /** A file to be written where the user says. */
  | { type: 'save'; name: string; text: string }
  | { type: 'command'; command: string; arguments: Record<string, unknown> };
