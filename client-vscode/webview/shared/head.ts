// The line on top of a panel: state, phase, step, progress, stop; and that a run is simulated.
import { h } from './dom';
import { send } from './host';
import type { Progress } from './run';

export function head(progress: Progress, texts: Record<string, string>, run: string | null): HTMLElement {
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
      h('span', { class: 'grow' }, where, ' ', share),
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
