// A list of very many lines: only those in sight are elements.
import { h } from '../shared/dom';
import type { Rest } from './model';
import { isHeading } from './model';

const HEIGHT = 18;
const AROUND = 20;
/** What stands where a line has not come yet. */
const COMING = '⋯';
/** The page can be no higher than so many of them. */
const MOST_COMING = 1_000_000;

export class Lines {
  readonly element: HTMLElement;
  private readonly space: HTMLElement;
  private readonly window: HTMLElement;
  private lines: readonly string[] = [];
  private rest: Rest = { heading: '', missing: 0, lines: [] };
  private drawnAt = -1;
  follow = true;

  /** `fold` is told a heading that is pushed; `isFolded` says how it is now. */
  constructor(
    label: string,
    changed: () => void,
    private readonly isFolded: (heading: string) => boolean,
    fold: (heading: string) => void,
  ) {
    this.window = h('div', { class: 'window' });
    this.space = h('div', { class: 'space' }, this.window);
    this.element = h('div', { class: 'log', tabindex: 0, role: 'log', 'aria-label': label }, this.space);
    const pushed = (event: Event): void => {
      const heading = event.target instanceof HTMLElement ? event.target.closest('.title') : null;
      if (heading?.textContent) {
        event.preventDefault();
        fold(heading.textContent);
      }
    };
    this.element.addEventListener('click', pushed);
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        pushed(event);
      }
    });
    this.element.addEventListener('scroll', () => {
      const end = this.element.scrollHeight - this.element.clientHeight - this.element.scrollTop < HEIGHT * 2;
      if (this.follow !== end) {
        this.follow = end;
        changed();
      }
      if (this.element.scrollTop !== this.drawnAt) {
        this.draw();
      }
    });
  }

  /** The lines that have come, and what follows them. */
  show(lines: readonly string[], rest: Rest): void {
    this.lines = lines;
    this.rest = rest;
    const high = (lines.length + this.coming + rest.lines.length) * HEIGHT;
    this.space.style.height = `${high}px`;
    if (this.follow) {
      // Further than the end is the end; to ask how far that is would lay out the page once more.
      this.element.scrollTop = high;
    }
    this.draw();
  }

  /** How many rows stand for lines that have not come, and for a heading before them. */
  private get coming(): number {
    return Math.min(this.rest.missing, MOST_COMING) + (this.rest.heading ? 1 : 0);
  }

  /** What stands in so many rows from one on. */
  private slice(first: number, count: number): string[] {
    const come = this.lines.length;
    const end = come + this.coming;
    const found = this.lines.slice(first, first + count);
    for (let at = Math.max(first, come); at < Math.min(first + count, end); at += 1) {
      found.push(at === come && this.rest.heading ? this.rest.heading : COMING);
    }
    return [...found, ...this.rest.lines.slice(Math.max(0, first - end), Math.max(0, first + count - end))];
  }

  /** A heading is a button that folds what is below it. */
  private heading(element: Element, line: string): Element {
    if (isHeading(line)) {
      element.setAttribute('role', 'button');
      element.setAttribute('tabindex', '0');
      element.setAttribute('aria-expanded', this.isFolded(line) ? 'false' : 'true');
    } else if (element.hasAttribute('role')) {
      ['role', 'tabindex', 'aria-expanded'].forEach((name) => element.removeAttribute(name));
    }
    return element;
  }

  /** The elements stay and get other texts: in a flood new ones would be made by the thousand each second. */
  private draw(): void {
    this.drawnAt = this.element.scrollTop;
    const first = Math.max(0, Math.floor(this.drawnAt / HEIGHT) - AROUND);
    const count = Math.ceil(this.element.clientHeight / HEIGHT) + 2 * AROUND;
    const slice = this.slice(first, count);
    const move = `translateY(${first * HEIGHT}px)`;
    if (this.window.style.transform !== move) {
      this.window.style.transform = move;
    }
    while (this.window.childElementCount > slice.length) {
      this.window.lastElementChild?.remove();
    }
    slice.forEach((line, index) => {
      const there = this.window.children[index];
      const [text, name] = [line || ' ', `line ${look(line)}`];
      if (!there) {
        this.window.append(this.heading(h('div', { class: name }, text), line));
      } else if (there.textContent !== text) {
        there.textContent = text;
        there.className = name;
        this.heading(there, line);
      } else if (isHeading(line)) {
        this.heading(there, line);
      }
    });
  }
}

function look(line: string): string {
  if (isHeading(line)) {
    return 'title';
  }
  return /\b(?:fatal )?error\b|\[ERROR\]/i.test(line) || /\bFAIL\b/.test(line) ? 'error' : /\bwarning\b/i.test(line) ? 'warning' : '';
}
