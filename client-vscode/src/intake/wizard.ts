// The intake as a sequence of questions that can be gone back in; which apply depends on the answers before.

export interface Option {
  id: string;
  label: string;
  value: unknown;
}

/** A question as the server has it. */
export interface Question {
  id: string;
  number: number | null;
  field: string;
  prompt: string;
  detail: string;
  options: Option[];
  /** What free text may be answered; null where one of the options has to be chosen. */
  text: string | null;
  why: string | null;
  /** What an empty answer means; null: it must be answered. */
  default: string | null;
  /** Answers to others that make this one worth asking; `*` is any. */
  when: Record<string, string>;
}

/** How a question was left. */
export type Reply = { kind: 'answer'; text: string } | { kind: 'back' } | { kind: 'cancel' };

/** Shows one question; `before` is what was answered when one goes back to it, `answers` are those so far. */
export type Ask = (
  question: Question,
  before: string | undefined,
  first: boolean,
  answers: ReadonlyMap<string, string>,
) => Promise<Reply>;

const NONE = new Set(['', 'none', 'later']);

/** Whether a question is asked, with these answers. */
export function applies(question: Question, answers: ReadonlyMap<string, string>): boolean {
  return Object.entries(question.when).every(([id, wanted]) => {
    const said = answers.get(id) ?? '';
    return wanted === '*' ? !NONE.has(said) : said === wanted;
  });
}

/** All answers by question; undefined when the user gave up: then nothing is kept. */
export async function walk(questions: readonly Question[], ask: Ask): Promise<Map<string, string> | undefined> {
  const answers = new Map<string, string>();
  let index = 0;
  while (index < questions.length) {
    const question = questions[index];
    if (!question) {
      break;
    }
    if (!applies(question, answers)) {
      answers.delete(question.id);
      index += 1;
      continue;
    }
    const reply = await ask(question, answers.get(question.id), index === 0, answers);
    if (reply.kind === 'cancel') {
      return undefined;
    }
    if (reply.kind === 'back') {
      do {
        index -= 1;
      } while (index > 0 && !applies(questions[index] ?? question, answers));
      index = Math.max(index, 0);
      continue;
    }
    answers.set(question.id, reply.text);
    index += 1;
  }
  for (const question of questions) {
    if (!applies(question, answers)) {
      answers.delete(question.id);
    }
  }
  return answers;
}
