// How far the user is on the way to the first green run, as contexts the walkthrough's steps wait for.
import * as vscode from 'vscode';
import { log, messageOf } from './log';
import type { Store } from './operators/store';
import type { RunState } from './protocol';

type Context = 'opdev.someOperator' | 'opdev.intakeDone' | 'opdev.ran' | 'opdev.green';

export function walkthrough(store: Store): vscode.Disposable {
  const reached = new Set<Context>();
  const reach = (context: Context): void => {
    if (!reached.has(context)) {
      reached.add(context);
      void vscode.commands.executeCommand('setContext', context, true);
    }
  };
  const ran = (state: RunState): void => {
    reach('opdev.ran');
    if (state === 'passed') {
      reach('opdev.green');
    }
  };
  const look = async (): Promise<void> => {
    for (const operator of store.operators) {
      reach('opdev.someOperator');
      if (operator.phases.some((phase) => phase.id === '0' && phase.state === 'open')) {
        reach('opdev.intakeDone');
      }
      if (!reached.has('opdev.green')) {
        (await store.history(operator.root)).forEach((one) => ran(one.state));
      }
    }
  };
  return vscode.Disposable.from(
    store.onRunEvents((params) => ran(params.state)),
    store.onChanged(() => void look().catch((error: unknown) => log().warn(messageOf(error)))),
  );
}
