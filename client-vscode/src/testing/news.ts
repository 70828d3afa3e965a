// What the events of a run mean for the cases of its operator.
import type { RunEvent, RunState } from '../protocol';
import { going } from '../protocol';

export type News =
  /** The matrix runs: cases have begun. */
  | { kind: 'matrix' }
  | { kind: 'verdict'; id: string; verdict: string; seconds: number | undefined }
  /** Why a step failed, in both languages. */
  | { kind: 'why'; text: Text }
  | { kind: 'over'; state: RunState; text: Text | undefined };

interface Text {
  zh: string;
  en: string;
}

const isText = (value: unknown): value is Text =>
  typeof value === 'object' && value !== null && 'zh' in value && 'en' in value;

/** Reads one run's events in their order; the reason of the last failure is kept for cases that never got a verdict. */
export class NewsReader {
  private last = -1;
  private why: Text | undefined;

  take(events: readonly RunEvent[], state: RunState): News[] {
    const found = events.filter((event) => event.seq > this.last).flatMap((event) => this.of(event));
    this.last = Math.max(this.last, events.at(-1)?.seq ?? -1);
    if (!going(state)) {
      found.push({ kind: 'over', state, text: this.why });
    }
    return found;
  }

  private of(event: RunEvent): News[] {
    switch (event.type) {
      case 'step-started':
        return String(event.task).endsWith('-matrix') ? [{ kind: 'matrix' }] : [];
      case 'case':
        return typeof event.verdict === 'string'
          ? [{ kind: 'verdict', id: String(event.case), verdict: event.verdict, seconds: seconds(event) }]
          : [];
      case 'diagnosis': {
        const { cause, next } = event;
        if (event.rank !== 0 || !isText(cause) || !isText(next)) {
          return [];
        }
        this.why = { zh: `${cause.zh}\n${next.zh}`, en: `${cause.en}\n${next.en}` };
        // A case that failed says more than that its runner's exit status was not 0.
        return event.signature === 'unknown' ? [] : [{ kind: 'why', text: this.why }];
      }
      case 'phase-ended':
      case 'run-ended':
        if (isText(event.why) && event.why.en) {
          this.why ??= event.why;
        }
        return [];
      default:
        return [];
    }
  }
}

function seconds(event: RunEvent): number | undefined {
  const values = event.values as Record<string, string> | undefined;
  const said = Number(values?.seconds);
  return Number.isFinite(said) ? said : undefined;
}
