// The line on top of a panel: state, phase, step, progress, stop; and that a run is simulated.
import { h } from './dom';
import { send } from './host';
import type { Progress } from './run';

const drawn = new WeakMap<HTMLElement, string>();

/** Draws the line where it says something new; whoever stands on its button stays there. */
export function drawHead(into: HTMLElement, progress: Progress, texts: Record<string, string>, run: string | null): void {
  const { state, phase, step, done, total, simulated } = progress;
  const mark = JSON.stringify([run, state, phase, step, done, total, simulated, texts.nothing]);
  if (drawn.get(into) !== mark) {
    drawn.set(into, mark);
    const inside = into.contains(document.activeElement);
    into.replaceChildren(head(progress, texts, run));
    if (inside) {
      into.querySelector('button')?.focus();
    }
  }
}

function head(progress: Progress, texts: Record<string, string>, run: string | null): HTMLElement {
  if (run === null) {
    return h('p', { class: 'muted', role: 'status' }, texts.nothing ?? '');
  }
  const state = progress.state ?? 'starting';
  const where = [progress.phase, progress.step].filter(Boolean).join(' · ');
  const share = progress.total > 0 ? `${progress.done}/${progress.total}` : '';
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'bar' },
      h('span', { class: `badge ${state}`, role: 'status' }, texts[state] ?? state),
      h('span', { class: 'where' }, where, ' ', share),
      h('span', { class: 'muted' }, run),
      progress.going &&
        h('button', { onclick: () => send({ type: 'command', command: 'opdev.stopRun', arguments: { run } }) }, texts.stop ?? ''),
    ),
    progress.simulated && h('div', { class: 'simulated' }, texts.simulated ?? ''),
    progress.going &&
      progress.total > 0 &&
      h('progress', { max: progress.total, value: progress.done, 'aria-label': `${where} ${share}` }),
  );
}
