// A list of very many lines: only those in sight are elements.
import { h } from '../shared/dom';

const HEIGHT = 18;
const AROUND = 20;

export class Lines {
  readonly element: HTMLElement;
  private readonly space: HTMLElement;
  private readonly window: HTMLElement;
  private lines: readonly string[] = [];
  private drawnAt = -1;
  follow = true;

  constructor(label: string, changed: () => void) {
    this.window = h('div', { class: 'window' });
    this.space = h('div', { class: 'space' }, this.window);
    this.element = h('div', { class: 'log', tabindex: 0, role: 'log', 'aria-label': label }, this.space);
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

  show(lines: readonly string[]): void {
    this.lines = lines;
    this.space.style.height = `${lines.length * HEIGHT}px`;
    if (this.follow) {
      this.element.scrollTop = this.element.scrollHeight;
    }
    this.draw();
  }

  private draw(): void {
    this.drawnAt = this.element.scrollTop;
    const first = Math.max(0, Math.floor(this.element.scrollTop / HEIGHT) - AROUND);
    const count = Math.ceil(this.element.clientHeight / HEIGHT) + 2 * AROUND;
    this.window.style.transform = `translateY(${first * HEIGHT}px)`;
    this.window.replaceChildren(
      ...this.lines.slice(first, first + count).map((line) => h('div', { class: `line ${look(line)}` }, line || ' ')),
    );
  }
}

function look(line: string): string {
  if (line.startsWith('━━ ')) {
    return 'title';
  }
  return /\b(?:fatal )?error\b|\[ERROR\]/i.test(line) || /\bFAIL\b/.test(line) ? 'error' : /\bwarning\b/i.test(line) ? 'warning' : '';
}
