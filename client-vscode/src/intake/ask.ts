// One question as a native quick pick: options, free text where the question takes it, and the way back.
// What the server finds wrong with an answer is said at once: below the options, or at the box the text is written in.
import * as vscode from 'vscode';
import { log, messageOf } from '../log';
import { lineByLine, parted } from './lines';
import type { Question, Reply } from './wizard';

interface Item extends vscode.QuickPickItem {
  answer?: string;
}

/** What is wrong with an answer; null where nothing is. */
export type Judge = (answer: string) => Promise<string | null>;

const SOON_MS = 300;
/** Columns that a line of a quick pick shows. */
const WIDE = 68;

/** Asks until there is an answer that holds; the first five questions say which of five they are. */
export async function ask(
  title: string,
  question: Question,
  before: string | undefined,
  first: boolean,
  judge: Judge,
): Promise<Reply> {
  const heading = question.number ? `${title} · ${question.number}/5` : title;
  for (let wrong: string | null = null; ; ) {
    const reply = await choose(heading, question, before, first, wrong);
    if (reply.kind !== 'answer' || !reply.text) {
      return reply;
    }
    wrong = await judge(reply.text);
    if (wrong === null) {
      return reply;
    }
    if (!question.options.some((option) => option.id === reply.text)) {
      const mended = await write(heading, question, reply.text, wrong, judge);
      if (mended.kind !== 'back') {
        return mended;
      }
      wrong = null;
    }
  }
}

/** The options, and what is typed as one more. */
function choose(heading: string, question: Question, before: string | undefined, first: boolean, wrong: string | null): Promise<Reply> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item>();
    pick.title = heading;
    pick.placeholder = question.prompt;
    pick.ignoreFocusOut = true;
    pick.matchOnDetail = true;
    pick.buttons = first ? [] : [vscode.QuickInputButtons.Back];
    const fixed: Item[] = question.options.map((option) => ({
      ...parted(option.label),
      description: option.id === before ? vscode.l10n.t('chosen before') : '',
      answer: option.id,
      alwaysShow: true,
    }));
    const show = (typed: string): void => {
      const items: Item[] = [{ label: question.prompt, kind: vscode.QuickPickItemKind.Separator }, ...fixed];
      if (question.text !== null && typed.trim()) {
        items.push({ label: typed.trim(), description: question.text, answer: typed.trim(), alwaysShow: true });
      }
      if (question.default !== null && !typed.trim()) {
        items.push({
          label: question.default || vscode.l10n.t('leave it open'),
          description: vscode.l10n.t('if nothing else is known'),
          answer: question.default,
          alwaysShow: true,
        });
      }
      for (const [icon, text] of [['error', wrong], ['info', question.detail], ['info', question.why]] as const) {
        if (text) {
          const lines = lineByLine(text, WIDE).map((line, index) => ({ label: `$(${index ? 'blank' : icon}) ${line}`, alwaysShow: true }));
          items.push({ label: '', kind: vscode.QuickPickItemKind.Separator }, ...lines);
        }
      }
      pick.items = items;
      pick.activeItems = items.filter((item) => item.answer !== undefined && item.answer === (typed.trim() || before));
    };
    const end = (reply: Reply): void => {
      pick.onDidHide(() => undefined);
      resolve(reply);
      pick.dispose();
    };
    show('');
    pick.onDidChangeValue(show);
    pick.onDidTriggerButton(() => end({ kind: 'back' }));
    pick.onDidHide(() => end({ kind: 'cancel' }));
    pick.onDidAccept(() => {
      const answer = pick.activeItems[0]?.answer;
      if (answer === undefined) {
        return;
      }
      end({ kind: 'answer', text: answer });
    });
    pick.show();
  });
}

/** The text once more, with what is wrong with it; back leads to the options. */
function write(heading: string, question: Question, text: string, wrong: string, judge: Judge): Promise<Reply> {
  return new Promise((resolve) => {
    const box = vscode.window.createInputBox();
    [box.title, box.prompt, box.value, box.validationMessage] = [heading, question.text ?? question.prompt, text, wrong];
    box.ignoreFocusOut = true;
    box.buttons = [vscode.QuickInputButtons.Back];
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const end = (reply: Reply): void => {
      if (!ended) {
        ended = true;
        clearTimeout(timer);
        resolve(reply);
        box.dispose();
      }
    };
    /** Only the newest text is told what is wrong with it. */
    const look = async (): Promise<boolean> => {
      const asked = box.value.trim();
      const found = asked ? await judge(asked) : question.prompt;
      if (!ended && asked === box.value.trim()) {
        box.validationMessage = found ?? undefined;
        return found === null;
      }
      return false;
    };
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void look().catch((error: unknown) => log().warn(messageOf(error))), SOON_MS);
    };
    box.onDidChangeValue(soon);
    box.onDidTriggerButton(() => end({ kind: 'back' }));
    box.onDidHide(() => end({ kind: 'cancel' }));
    box.onDidAccept(() => {
      void look().then(
        (good) => {
          if (good) {
            end({ kind: 'answer', text: box.value.trim() });
          }
        },
        (error: unknown) => log().warn(messageOf(error)),
      );
    });
    box.show();
  });
}
