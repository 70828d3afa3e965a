// How far the user is on the way to the first green run, as contexts the walkthrough's steps wait for.
import * as vscode from 'vscode';
import { log, messageOf } from './log';
import type { Store } from './operators/store';
import type { RunState } from './protocol';

/** Each step's context. */
const STEPS = {
  server: 'opdev.known',
  operator: 'opdev.someOperator',
  intake: 'opdev.intakeDone',
  run: 'opdev.ran',
  green: 'opdev.green',
} as const;
type Step = keyof typeof STEPS;

export function walkthrough(store: Store): vscode.Disposable {
  const reached = new Set<Step>();
  const reach = (step: Step): void => {
    if (!reached.has(step)) {
      reached.add(step);
      void vscode.commands.executeCommand('setContext', STEPS[step], true);
      // A context that holds before the editor looks at walkthroughs completes nothing there.
      const marked = vscode.commands.executeCommand('welcome.markStepComplete', `opdev.opdev#start#${step}`);
      void marked.then(undefined, (error: unknown) => log().debug(messageOf(error)));
    }
  };
  const ran = (state: RunState): void => {
    reach('run');
    if (state === 'passed') {
      reach('green');
    }
  };
  const look = async (): Promise<void> => {
    reach('server');
    for (const operator of store.operators) {
      reach('operator');
      if (operator.phases.some((phase) => phase.id === '0' && phase.state === 'open')) {
        reach('intake');
      }
      if (!reached.has('green')) {
        (await store.history(operator.root)).forEach((one) => ran(one.state));
      }
    }
  };
  return vscode.Disposable.from(
    store.onRunEvents((params) => ran(params.state)),
    store.onChanged(() => void look().catch((error: unknown) => log().warn(messageOf(error)))),
  );
}
