// One question as a native quick pick: options, free text where the question takes it, and the way back.
import * as vscode from 'vscode';
import type { Question, Reply } from './wizard';

interface Item extends vscode.QuickPickItem {
  answer?: string;
}

/** Shows a question; the first five say which of five they are. */
export function ask(title: string, question: Question, before: string | undefined, first: boolean): Promise<Reply> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item>();
    pick.title = question.number ? `${title} · ${question.number}/5` : title;
    pick.placeholder = question.prompt;
    pick.ignoreFocusOut = true;
    pick.matchOnDetail = true;
    pick.buttons = first ? [] : [vscode.QuickInputButtons.Back];
    const fixed: Item[] = question.options.map((option) => ({
      label: option.label,
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
      for (const line of [question.detail, question.why].filter((text): text is string => Boolean(text))) {
        items.push({ label: '', kind: vscode.QuickPickItemKind.Separator }, { label: `$(info) ${line}`, alwaysShow: true });
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
