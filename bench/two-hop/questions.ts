import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { readDocuments as readBackground, type Document } from '../answers/questions.js';

/** A question whose answer needs two documents: the first one names what the second one is about. */
export interface TwoHopQuestion {
  readonly id: string;
  /** The half that the loop is tuned on, and the half that is looked at once. */
  readonly half: 'tune' | 'held';
  readonly question: string;
  /** Text of the document that the question names. */
  readonly first: string;
  /** Text of the document with the answer. */
  readonly second: string;
  /** The name that joins the two. */
  readonly name: string;
  /** Names of siblings: further documents of the same form as the second one, as staff and product pages are. */
  readonly others: readonly string[];
}

/** The file of a document of a question. */
export const fileOf = ({ id }: Pick<TwoHopQuestion, 'id'>, document: 'first' | 'second'): string =>
  `${id}-${document}.txt`;

/** Reads all questions, in the order of the file. */
export function readQuestions(): TwoHopQuestion[] {
  const lines = readFileSync(join(projectRoot, 'bench', 'two-hop', 'questions.jsonl'), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as TwoHopQuestion);
}

/** The documents of the questions, the siblings of the second ones, and all documents of the subject `answers`. */
export function readDocuments(questions: readonly TwoHopQuestion[]): Document[] {
  const own = questions.flatMap((question) => [
    text(fileOf(question, 'first'), question.first),
    text(fileOf(question, 'second'), question.second),
    ...question.others.map((other, index) =>
      text(`${question.id}-sibling-${index + 1}.txt`, siblingOf(question, other, index + 1)),
    ),
  ]);
  return [...own, ...readBackground()];
}

/** The second document about something else of its kind: another name, other numbers. */
function siblingOf({ second, name }: TwoHopQuestion, other: string, step: number): string {
  const distinctive = withoutKind(name);
  return second
    .replaceAll(name, other)
    .replaceAll(distinctive, withoutKind(other))
    .replaceAll(/(?<![\p{L}\d-])\d{2,4}(?!\d)/gu, (number) => String(Number(number) + 3 * step));
}

/** A name without a word of its kind in front, which its text may leave out. */
function withoutKind(name: string): string {
  return name.replace(/^(?:Lake|Road|Form|The|hotel) /, '');
}

function text(name: string, body: string): Document {
  return { kind: 'two-hop', name, text: body, body };
}
