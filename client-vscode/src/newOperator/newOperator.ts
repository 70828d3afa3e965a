// A new operator: asked step by step with the server's own choices, written by it as a whole, then opened.
import * as vscode from 'vscode';
import { intake } from '../intake/intake';
import { messageOf } from '../log';
import type { Store } from '../operators/store';
import type { NewOperator, NewOperatorOffer, NewOperatorResult } from '../protocol';
import type { Server } from '../server/server';
import type { Answer, Step } from './ask';
import { BACK, choice, choices, text } from './ask';

type Draft = Partial<NewOperator>;
/** Asks for one thing; undefined where there is nothing to ask. */
type Ask = (step: Step, draft: Draft) => Promise<Answer<Draft>>;

export function newOperatorCommand(server: Server, store: Store): vscode.Disposable {
  return vscode.commands.registerCommand('opdev.newOperator', () => newOperator(server, store));
}

async function newOperator(server: Server, store: Store): Promise<void> {
  const client = server.client;
  if (!client) {
    void vscode.window.showErrorMessage(vscode.l10n.t('The server is not running.'));
    return;
  }
  try {
    const offer: NewOperatorOffer = await client.sendRequest('opdev/newOperator', {});
    if (!offer.folders.length) {
      const open = vscode.l10n.t('Open Folder');
      const said = vscode.l10n.t('An operator goes into a folder: open one first.');
      if ((await vscode.window.showInformationMessage(said, open)) === open) {
        await vscode.commands.executeCommand('workbench.action.files.openFolder');
      }
      return;
    }
    const asked = await walk(steps(server, offer));
    if (!asked) {
      return;
    }
    const title = vscode.l10n.t('Writing {0}', asked.name ?? '');
    const made = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () =>
      client.sendRequest<NewOperatorResult>('workspace/executeCommand', {
        command: 'opdev.newOperator',
        arguments: [asked],
      }),
    );
    await vscode.window.showTextDocument(vscode.Uri.parse(made.design));
    await store.refresh(made.root);
    await offerIntake(server, asked.name ?? '', made.root);
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
  }
}

async function offerIntake(server: Server, name: string, root: string): Promise<void> {
  const answer = vscode.l10n.t('Answer the five questions');
  const said = vscode.l10n.t('{0} is written. Its work begins with five questions about this machine and the operator.', name);
  if ((await vscode.window.showInformationMessage(said, answer)) === answer) {
    await intake(server, { root });
  }
}

/** The answers of all steps; undefined when the user gave up. */
async function walk(asks: readonly Ask[]): Promise<Draft | undefined> {
  let draft: Draft = {};
  for (let index = 0; index < asks.length; ) {
    const step = { title: `${vscode.l10n.t('New operator')} · ${index + 1}/${asks.length}`, first: index === 0 };
    const answer = await asks[index]?.(step, draft);
    if (answer === undefined) {
      return undefined;
    }
    if (answer === BACK) {
      index = Math.max(0, index - 1);
    } else {
      draft = { ...draft, ...answer };
      index += 1;
    }
  }
  return draft;
}

function steps(server: Server, offer: NewOperatorOffer): Ask[] {
  const problem = async (name: string, folder: string | undefined): Promise<string | null> => {
    const asked = { name, ...(folder === undefined ? {} : { folder }) };
    return (await server.client?.sendRequest<NewOperatorOffer>('opdev/newOperator', asked))?.problem ?? null;
  };
  const kind = (draft: Draft) => offer.kinds.find((one) => one.id === draft.kind);
  const asks: Ask[] = [
    async (step, draft) => {
      const prompt = vscode.l10n.t('The name: lower-case letters, digits and underscores');
      const name = await text(step, prompt, draft.name ?? '', (value) => problem(value, draft.folder));
      return as('name', name);
    },
    async (step, draft) => {
      const items = offer.kinds.map(({ id, label }) => ({ label, description: id, value: id }));
      return as('kind', await choice(step, vscode.l10n.t('What does it do?'), items, draft.kind));
    },
    async (step, draft) => {
      const names = kind(draft)?.dtypes ?? [];
      const prompt = vscode.l10n.t('Which dtypes? The first is the main one');
      return as('dtypes', await choices(step, prompt, names, draft.dtypes ?? names.slice(0, 1)));
    },
    async (step, draft) => {
      const items = [
        { label: vscode.l10n.t('Without a Torch binding'), value: false },
        { label: vscode.l10n.t('With a Torch binding'), detail: vscode.l10n.t('and its test (phase 5.5)'), value: true },
      ];
      return as('torch', await choice(step, vscode.l10n.t('Will PyTorch call it?'), items, draft.torch ?? false));
    },
  ];
  if (offer.folders.length > 1) {
    asks.unshift(async (step, draft) => {
      const items = offer.folders.map((folder) => ({ label: vscode.Uri.parse(folder).fsPath, value: folder }));
      return as('folder', await choice(step, vscode.l10n.t('Into which folder?'), items, draft.folder));
    });
  }
  if (offer.buildModes.length > 1) {
    asks.push(async (step, draft) => {
      const items = offer.buildModes.map(({ id, label }) => ({ label, value: id }));
      return as('buildMode', await choice(step, vscode.l10n.t('Where is it built?'), items, draft.buildMode));
    });
  }
  return asks;
}

function as<K extends keyof NewOperator>(key: K, answer: Answer<NewOperator[K]>): Answer<Draft> {
  return answer === undefined || answer === BACK ? answer : { [key]: answer };
}
