// When a server that died is started again: not for ever, or a broken one would burn the machine.

export interface Crash {
  readonly at: number;
  readonly reason: string;
}

const MOST = 4;
const WITHIN_MS = 180_000;
const KEPT = 10;

export class Crashes {
  private readonly list: Crash[] = [];

  /** Notes a crash; whether the server may be started once more. */
  note(reason: string, now: number): boolean {
    this.list.push({ at: now, reason });
    this.list.splice(0, Math.max(0, this.list.length - KEPT));
    return this.list.filter((one) => now - one.at <= WITHIN_MS).length < MOST;
  }

  /** The last ones, the newest last. */
  get history(): readonly Crash[] {
    return this.list;
  }

  /** The user asked for a new start: what was does not count any more. */
  forget(): void {
    this.list.length = 0;
  }
}
