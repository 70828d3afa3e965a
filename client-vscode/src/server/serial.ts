// One thing at a time, and of what waits only the newest: restarts must never overlap.

export class Serial {
  private running: Promise<void> | undefined;
  private waiting: (() => Promise<void>) | undefined;

  /** Whether something newer waits for what runs now to end. */
  get superseded(): boolean {
    return this.waiting !== undefined;
  }

  /** Runs `work` when what runs now has ended; what waited before it is dropped. Never rejects. */
  request(work: () => Promise<void>): Promise<void> {
    this.waiting = work;
    this.running ??= this.drain();
    return this.running;
  }

  private async drain(): Promise<void> {
    while (this.waiting) {
      const work = this.waiting;
      this.waiting = undefined;
      try {
        await work();
      } catch {
        // Whoever asked tells the user; the next request has nothing to do with it.
      }
    }
    this.running = undefined;
  }
}
