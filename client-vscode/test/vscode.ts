// What unit tests need of an editor: almost nothing, since they test what does without.
export const l10n = { t: (text: string): string => text };

export class Disposable {
  static from(): Disposable {
    return new Disposable();
  }
  dispose(): void {
    // Nothing is held.
  }
}

export class CancellationToken {
  private readonly heard: (() => void)[] = [];

  onCancellationRequested(listener: () => void): Disposable {
    this.heard.push(listener);
    return new Disposable();
  }

  cancel(): void {
    this.heard.forEach((listener) => listener());
  }
}

interface Tool {
  invoke(options: { input: Record<string, unknown> }, token: CancellationToken): Promise<unknown>;
}

/** The tools that were registered, by their names. */
export const registered = new Map<string, Tool>();
export const lm = {
  registerTool: (name: string, tool: Tool): Disposable => {
    registered.set(name, tool);
    return new Disposable();
  },
};
export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}
export class LanguageModelToolResult {
  constructor(readonly content: LanguageModelTextPart[]) {}
}

export const env = { language: 'en' };
export const workspace = {
  workspaceFolders: [],
  getConfiguration: () => ({ get: <T>(_: string, other: T): T => other }),
};

/** What was written into output channels. */
export const written: string[] = [];
export const window = {
  createOutputChannel: () => {
    let open = true;
    return {
      name: 'opdev',
      info: (text: string): void => {
        if (!open) {
          throw new Error('Channel has been closed');
        }
        written.push(text);
      },
      dispose: (): void => {
        open = false;
      },
    };
  },
};
