import type { GroundingCase } from './cases.js';

/** An answer of one case. */
export interface Answered {
  given: GroundingCase;
  text: string;
  tokens: number;
}

export interface Quality {
  /** Of the answerable: the answer holds what it should. */
  right: number;
  /** Of the answerable: the number is that of the passage which holds the answer. */
  cited: number;
  /** Of the answers that are no refusal: verbatim in the passage whose number they carry. */
  verbatim: number;
  /** Of the answerable: refused. */
  refused: number;
  /** Of the unanswerable: refused; undefined where there are none. */
  admitted: number | undefined;
  tokens: number;
}

export function qualityOf(answers: readonly Answered[], noAnswer: string): Quality {
  const answerable = answers.filter(({ given }) => given.answers.length > 0);
  const unanswerable = answers.filter(({ given }) => given.answers.length === 0);
  const said = answers.filter(({ text }) => text !== noAnswer);
  return {
    right: share(answerable, ({ text, given }) =>
      given.answers.some((answer) => text.includes(normal(answer))),
    ),
    cited: share(answerable, ({ text, given }) => numberOf(text) === given.passage),
    verbatim: share(said, isVerbatim),
    refused: share(answerable, ({ text }) => text === noAnswer),
    admitted: unanswerable.length > 0 ? share(unanswerable, ({ text }) => text === noAnswer) : undefined,
    tokens: answers.reduce((sum, { tokens }) => sum + tokens, 0) / answers.length,
  };
}

export function normal(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function isVerbatim({ text, given }: Answered): boolean {
  const quote = text.replace(/ \[\d+\]$/, '');
  return normal(given.passages[(numberOf(text) ?? 0) - 1] ?? '').includes(quote);
}

function numberOf(text: string): number | undefined {
  const number = / \[(\d+)\]$/.exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}

function share<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  return items.filter(holds).length / items.length;
}
