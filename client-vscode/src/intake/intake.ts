// The intake: the server's questions one by one, the answers shown, and only then the record.
import * as vscode from 'vscode';
import { messageOf } from '../log';
import type { Server } from '../server/server';
import { ask } from './ask';
import type { Question } from './wizard';
import { walk } from './wizard';

interface Result {
  state: 'questions' | 'checked' | 'recorded' | 'unchanged' | 'needs-answers' | 'needs-reconfirm' | 'refused' | 'not-written';
  root: string | null;
  path: string | null;
  title: string;
  questions: Question[];
  problems: { id?: string; text?: string }[];
  notes: { text?: string }[];
  text: string;
}

/** Asks and records; whether there is a record now. Giving up leaves everything as it was. */
export async function intake(server: Server, target: { root: string } | { name: string }): Promise<boolean> {
  const client = server.client;
  if (!client) {
    return false;
  }
  try {
    const title = vscode.l10n.t('Looking at this machine');
    const asked = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () =>
      client.sendRequest<Result>('opdev/intake', target),
    );
    const answers = await walk(asked.questions, (question, before, first, known) =>
      ask(asked.title, question, before, first, async (answer) => {
        const given = { ...Object.fromEntries(known), [question.id]: answer };
        const { problems } = await client.sendRequest<Result>('opdev/intake', { ...target, answers: given, check: question.id });
        return problems.length ? problems.map((one) => one.text ?? '').join('\n') : null;
      }),
    );
    if (!answers || !(await confirmed(asked.questions, answers))) {
      return false;
    }
    const record = (reconfirm: boolean): Promise<Result> =>
      client.sendRequest<Result>('opdev/intake', {
        ...target,
        answers: Object.fromEntries(answers),
        ...(reconfirm ? { reconfirm } : {}),
      });
    let done = await record(false);
    if (done.state === 'needs-reconfirm' && (await replace(done))) {
      done = await record(true);
    }
    return await tell(done);
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
    return false;
  }
}

async function confirmed(questions: readonly Question[], answers: ReadonlyMap<string, string>): Promise<boolean> {
  const lines = questions
    .filter((question) => answers.has(question.id))
    .map((question) => {
      const said = answers.get(question.id) ?? '';
      const label = question.options.find((option) => option.id === said)?.label ?? said;
      return `${question.prompt}\n    ${label || vscode.l10n.t('left open')}`;
    });
  const record = vscode.l10n.t('Record these answers');
  const detail = lines.join('\n');
  const chosen = await vscode.window.showInformationMessage(
    vscode.l10n.t('These answers are recorded and decide what follows.'),
    { modal: true, detail },
    record,
  );
  return chosen === record;
}

async function replace(result: Result): Promise<boolean> {
  const yes = vscode.l10n.t('Replace the record');
  return (await vscode.window.showWarningMessage(result.text, { modal: true }, yes)) === yes;
}

async function tell(result: Result): Promise<boolean> {
  const notes = [...result.problems, ...result.notes].map((one) => one.text ?? '').filter(Boolean);
  if (result.state !== 'recorded' && result.state !== 'unchanged') {
    void vscode.window.showErrorMessage([result.text, ...notes].filter(Boolean).join('\n'));
    return false;
  }
  const open = vscode.l10n.t('Open the record');
  const recorded = vscode.l10n.t('The intake is recorded.');
  const message = notes.length ? `${recorded} ${vscode.l10n.t('Still to know: {0}', notes.join(vscode.l10n.t('; ')))}` : recorded;
  const { path } = result;
  void vscode.window.showInformationMessage(message, ...(path ? [open] : [])).then(async (chosen) => {
    if (chosen === open && path) {
      await vscode.window.showTextDocument(vscode.Uri.file(path));
    }
  });
  return Promise.resolve(true);
}
