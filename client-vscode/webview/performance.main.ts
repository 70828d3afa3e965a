// The performance panel: measurements as they come, then what the command line concludes from them; rounds, baseline, target.
import type { ToPage } from '../src/panels/messages';
import { Chart } from './performance/chart';
import type { Answer, Backend, CompareRow, Metric } from './performance/document';
import { METRICS } from './performance/document';
import { Performance, lines } from './performance/model';
import { bandwidth, comparison, latency, notes, rounds } from './performance/tables';
import { answered, ask } from './shared/ask';
import { byId, h } from './shared/dom';
import { drawHead } from './shared/head';
import { History, save } from './shared/history';
import { hear, painter, remember } from './shared/host';
import { Progress } from './shared/run';

const BACKENDS: readonly Backend[] = ['hardware', 'sim'];

let texts: Record<string, string> = {};
let run: string | null = null;
let operator = '';
let model = new Performance();
let progress = new Progress();
let compared: CompareRow[] | null = null;
let problem = '';
let asking = 0;
/** Whether what there is has been told; before that nothing is said to be missing. */
let known = false;

const top = h('div');
const history = new History(() => void against());
const scope = h('p', { class: 'muted', role: 'status' });
const side = h('section', { class: 'comparison' });
const tables = h('div', { class: 'tables' });
const metric = h('select', { onchange: () => paint() }, ...METRICS.map((name) => h('option', { value: name }, name))) as HTMLSelectElement;
const metricText = h('span');
const chartText = h('h3');
const charts = { hardware: new Chart(), sim: new Chart() };
const marks = { hardware: h('div', { class: 'mark' }), sim: h('div', { class: 'mark' }) };
const chart = h(
  'section',
  { class: 'charts' },
  h('div', { class: 'bar' }, chartText, h('span', { class: 'grow' }), h('label', {}, metricText, ' ', metric)),
  ...BACKENDS.flatMap((backend) => [marks[backend], charts[backend].element]),
);
const more = h('div', { class: 'more' });
const body = h('div', { class: 'body', tabindex: 0 }, scope, side, tables, chart, more);
byId('app').append(top, history.element, body);

const paint = painter(() => {
  drawHead(top, progress, texts, run);
  const { groups, document } = model;
  scope.textContent = groups.length ? (model.everything ? (texts.everything ?? '') : '') : whyNothing();
  scope.hidden = !scope.textContent;
  drawComparison();
  const found: HTMLElement[] = [];
  for (const backend of BACKENDS) {
    const mine = groups.filter((group) => group.backend === backend);
    if (mine.length) {
      found.push(bandwidth(mine, backend, texts), latency(mine, backend, texts));
    }
    const drawn = lines(groups, metric.value as Metric, backend);
    charts[backend].element.hidden = marks[backend].hidden = !drawn.length;
    marks[backend].textContent = backend === 'sim' ? (texts.simTable ?? '') : '';
    charts[backend].show(drawn, metric.value, texts.target ?? '', texts.size ?? '');
  }
  tables.replaceChildren(...found);
  chart.hidden = !groups.length;
  chartText.textContent = texts.chart ?? '';
  metricText.textContent = texts.metric ?? '';
  metric.setAttribute('aria-label', texts.metric ?? '');
  more.replaceChildren(...[rounds(model.rounds, texts)].filter((one) => one !== null), ...(document ? notes(document, texts) : []));
});

function whyNothing(): string {
  if (!known) {
    return '';
  }
  return problem === '' ? ((model.document?.problem_count ? texts.unusable : texts.noFigures) ?? '') : problem;
}

function drawComparison(): void {
  side.hidden = compared === null;
  side.replaceChildren(...(compared === null ? [] : [comparison(compared, run ?? '', history.other ?? '', texts)]));
}

/** What the command line has of this run, or of everything where it measured nothing; of a run that goes on only the rounds. */
async function load(): Promise<void> {
  asking += 1;
  const mine = asking;
  const current = (): boolean => mine === asking;
  try {
    const own = run === null ? null : await ask<Answer>('opdev/performance', { run });
    const measured = own !== null && (own.document.groups.length > 0 || own.document.problem_count > 0);
    const answer = own !== null && (measured || model.measured) ? own : await ask<Answer>('opdev/performance');
    if (!current()) {
      return;
    }
    model.rounds = answer.rounds;
    if (!progress.going || !model.measured) {
      model.settle(answer.document, answer !== own);
    }
    problem = '';
  } catch (refused) {
    if (!current()) {
      return;
    }
    problem = (refused as Error).message;
  }
  known = true;
  paint();
}

async function against(): Promise<void> {
  const other = history.other;
  compared = null;
  paint();
  if (other !== null && run !== null) {
    const answer = await ask<Answer>('opdev/performance', { run, against: other }).catch(() => null);
    if (other === history.other) {
      compared = answer?.comparison?.rows ?? [];
      paint();
    }
  }
}

function exports(): void {
  const name = (ending: string): string => `${operator}-performance-${model.everything || run === null ? 'newest' : run}.${ending}`;
  const asked = (): Record<string, unknown> => (model.everything || run === null ? {} : { run });
  const out = async (ending: 'csv' | 'json'): Promise<void> => {
    try {
      const answer = await ask<Answer>('opdev/performance', { ...asked(), csv: true });
      save(name(ending), ending === 'csv' ? (answer.csv ?? '') : `${JSON.stringify(answer.document, null, 1)}\n`);
    } catch (refused) {
      problem = (refused as Error).message;
      paint();
    }
  };
  history.exports([
    [texts.csv ?? '', () => void out('csv')],
    [texts.json ?? '', () => void out('json')],
  ]);
}

hear((message: ToPage) => {
  if (message.type === 'reset') {
    ({ texts, run, operator } = message);
    model = new Performance();
    progress = new Progress();
    progress.simulated = message.simulated;
    [compared, problem, known] = [null, '', false];
    body.setAttribute('aria-label', texts.bandwidth ?? '');
    history.show(message.target, run, texts);
    exports();
    remember(message.target);
    void load();
  } else if (message.type === 'events') {
    const before = progress.state;
    progress.take(message.events, message.state);
    model.take(message.events);
    const over = before !== progress.state && !progress.going;
    if (over || message.events.some((event) => event.type === 'round')) {
      void load();
    }
    if (over) {
      history.refresh();
    }
  } else if (message.type === 'data') {
    answered(message);
    return;
  }
  paint();
});
