// The language of what opdev writes for this window: as set, else the editor's.
import * as vscode from 'vscode';

export function language(): 'zh' | 'en' {
  const set = vscode.workspace.getConfiguration('opdev').get<string>('lang', 'auto');
  if (set === 'zh' || set === 'en') {
    return set;
  }
  return vscode.env.language.startsWith('zh') ? 'zh' : 'en';
}

/** A text that opdev has in both languages. */
export function inLanguage(text: { zh: string; en: string }): string {
  return text[language()];
}
