// What every panel knows of the run it shows.
import type { RunEvent, RunState } from '../../src/protocol';
import type { Text } from './text';

export type { Text };

/** A text of an event in the language of the page; both where nobody wrote the one. */
export function words(text: unknown): string {
  if (typeof text === 'string') {
    return text;
  }
  const both = text as Partial<Text> | null | undefined;
  return (document.documentElement.lang.startsWith('zh') ? both?.zh : both?.en) ?? both?.en ?? both?.zh ?? '';
}

/** The head line: which step of which phase, how far. */
export class Progress {
  state: RunState | null = null;
  phase = '';
  step = '';
  done = 0;
  total = 0;
  simulated = false;

  take(events: readonly RunEvent[], state: RunState): void {
    this.state = state;
    for (const event of events) {
      this.simulated ||= event.backend === 'sim';
      if (event.type === 'phase-started') {
        this.phase = words(event.title);
      } else if (event.type === 'step-started') {
        this.step = words(event.title);
        this.done = this.total = 0;
      } else if (event.type === 'progress') {
        this.done = Number(event.done);
        this.total = Number(event.total);
      }
    }
  }

  get going(): boolean {
    return this.state === 'starting' || this.state === 'running';
  }
}
