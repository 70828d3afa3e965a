// One step of making an operator: a choice or a text, with a way back.
import * as vscode from 'vscode';

export const BACK = Symbol('back');
/** An answer, the way back, or giving up (undefined). */
export type Answer<T> = T | typeof BACK | undefined;

export interface Step {
  readonly title: string;
  readonly first: boolean;
}

export interface Item<T> extends vscode.QuickPickItem {
  value: T;
}

/** What all inputs have in common. */
function shown<T>(input: vscode.InputBox | vscode.QuickPick<Item<T>>, step: Step): void {
  input.title = step.title;
  input.ignoreFocusOut = true;
  input.buttons = step.first ? [] : [vscode.QuickInputButtons.Back];
}

export function choice<T>(step: Step, prompt: string, items: readonly Item<T>[], before: T | undefined): Promise<Answer<T>> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item<T>>();
    shown(pick, step);
    pick.placeholder = prompt;
    pick.items = items;
    pick.activeItems = items.filter((item) => item.value === before);
    const end = finisher(pick, resolve);
    pick.onDidTriggerButton(() => end(BACK));
    pick.onDidHide(() => end(undefined));
    pick.onDidAccept(() => {
      const chosen = pick.activeItems[0];
      if (chosen) {
        end(chosen.value);
      }
    });
    pick.show();
  });
}

/** At least one of several, in the order of the list. */
export function choices(
  step: Step,
  prompt: string,
  names: readonly string[],
  before: readonly string[],
): Promise<Answer<string[]>> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item<string>>();
    shown(pick, step);
    pick.placeholder = prompt;
    pick.canSelectMany = true;
    const items = names.map((name) => ({ label: name, value: name }));
    pick.items = items;
    pick.selectedItems = items.filter((item) => before.includes(item.value));
    const end = finisher(pick, resolve);
    pick.onDidTriggerButton(() => end(BACK));
    pick.onDidHide(() => end(undefined));
    pick.onDidAccept(() => {
      const chosen = new Set(pick.selectedItems.map((item) => item.value));
      if (chosen.size) {
        end(names.filter((name) => chosen.has(name)));
      }
    });
    pick.show();
  });
}

/** A text; `problem` says what is wrong with one, or nothing. */
export function text(
  step: Step,
  prompt: string,
  before: string,
  problem: (value: string) => Promise<string | null>,
): Promise<Answer<string>> {
  return new Promise((resolve) => {
    const box = vscode.window.createInputBox();
    shown(box, step);
    box.prompt = prompt;
    box.value = before;
    let asked = 0;
    const judge = async (): Promise<string | null> => {
      asked += 1;
      const mine = asked;
      const found = box.value ? await problem(box.value) : null;
      if (mine === asked) {
        box.validationMessage = found ?? undefined;
      }
      return found;
    };
    const end = finisher(box, resolve);
    box.onDidChangeValue(() => void judge());
    box.onDidTriggerButton(() => end(BACK));
    box.onDidHide(() => end(undefined));
    box.onDidAccept(() => {
      const value = box.value;
      void judge().then((found) => {
        if (value && !found) {
          end(value);
        }
      });
    });
    box.show();
  });
}

function finisher<T>(input: vscode.QuickInput, resolve: (value: Answer<T>) => void): (value: Answer<T>) => void {
  let done = false;
  return (value) => {
    if (!done) {
      done = true;
      resolve(value);
      input.dispose();
    }
  };
}
