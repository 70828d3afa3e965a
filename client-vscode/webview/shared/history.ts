// Which run is shown, and which one it is compared with: the two lists above a panel, and its export buttons.
import type { RunEventsResult, RunHistoryResult, RunRecord } from '../../src/protocol';
import type { Target } from '../../src/panels/messages';
import { ask } from './ask';
import { h } from './dom';
import { send } from './host';

const MOST = 100;
const PAGE = 2_000;
type Texts = Record<string, string>;

/** All events of a run, given to `take` a page at a time. */
export async function replayed(run: string, take: (events: RunEventsResult['events']) => void): Promise<void> {
  for (let after = -1, more = true; more; ) {
    const page = await ask<RunEventsResult>('opdev/runEvents', { run, after, limit: PAGE });
    take(page.events);
    after = page.events.at(-1)?.seq ?? after;
    more = page.more && page.events.length > 0;
  }
}

export class History {
  private readonly shownRun = h('select', { onchange: () => this.chosen() }) as HTMLSelectElement;
  private readonly against = h('select', { onchange: () => this.changed() }) as HTMLSelectElement;
  private readonly labels = [h('label'), h('label')] as const;
  private readonly buttons = h('span', { class: 'bar' });
  readonly element: HTMLElement;
  private runs: readonly RunRecord[] = [];
  private target: Target | null = null;
  private run: string | null = null;
  private texts: Texts = {};

  /** `changed` is told when another run is to be compared with. */
  constructor(private readonly changed: () => void) {
    this.labels[0].append(h('span'), ' ', this.shownRun);
    this.labels[1].append(h('span'), ' ', this.against);
    this.element = h('div', { class: 'bar history' }, ...this.labels, h('span', { class: 'grow' }), this.buttons);
  }

  /** The run that is compared with; null where none is. */
  get other(): string | null {
    return this.against.value || null;
  }

  /** Another run is shown. */
  show(target: Target, run: string | null, texts: Texts): void {
    this.texts = texts;
    [this.target, this.run] = [target, run];
    this.refresh();
  }

  /** `save(name)` for each button. */
  exports(buttons: readonly (readonly [label: string, save: () => void])[]): void {
    this.buttons.replaceChildren(...buttons.map(([label, save]) => h('button', { class: 'second', onclick: save }, label)));
  }

  /** The list anew: a run has begun or ended. */
  refresh(): void {
    ask<RunHistoryResult>('opdev/runHistory', { limit: MOST })
      .then((result) => {
        this.runs = result.runs;
        this.draw();
      })
      .catch(() => this.draw());
  }

  private chosen(): void {
    send({ type: 'show', run: this.shownRun.value || null });
  }

  private draw(): void {
    const { texts } = this;
    const other = this.against.value;
    this.caption(0, texts.run);
    this.caption(1, texts.against);
    const named = this.runs.map((one) => h('option', { value: one.run }, this.name(one)));
    const missing = this.target?.run && !this.runs.some((one) => one.run === this.target?.run);
    this.shownRun.replaceChildren(
      h('option', { value: '' }, texts.newest ?? ''),
      ...named,
      ...(missing && this.target?.run ? [h('option', { value: this.target.run }, this.target.run)] : []),
    );
    this.shownRun.value = this.target?.run ?? '';
    const others = this.runs.filter((one) => one.run !== this.run);
    this.against.replaceChildren(h('option', { value: '' }, texts.alone ?? ''), ...others.map((one) => h('option', { value: one.run }, this.name(one))));
    this.against.value = others.some((one) => one.run === other) ? other : '';
    this.against.disabled = this.run === null;
    if (this.against.value !== other) {
      this.changed();
    }
  }

  private caption(index: 0 | 1, text: string | undefined): void {
    const [caption, list] = this.labels[index].children;
    if (caption && list) {
      caption.textContent = text ?? '';
      list.setAttribute('aria-label', text ?? '');
    }
  }

  /** `4 · 11-30 11:49:18 · passed · simulated`. */
  private name(one: RunRecord): string {
    const moment = new Date(one.started * 1000);
    const two = (value: number): string => String(value).padStart(2, '0');
    const day = `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
    const time = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(':');
    const request = one.request === 'all' ? this.texts.all : `${this.texts.phase ?? ''} ${one.request}`;
    const parts = [request, `${day} ${time}`, this.texts[one.state] ?? one.state, one.backend === 'sim' && this.texts.simulatedShort];
    return parts.filter(Boolean).join(' · ');
  }
}

/** A file the user names; the host asks where. */
export function save(name: string, text: string): void {
  send({ type: 'save', name, text });
}
