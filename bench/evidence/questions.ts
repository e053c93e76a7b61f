import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { readDocuments as readOtherDocuments } from '../answers/questions.js';
import { generateDocuments, type Document } from './generate.js';
import { registers } from './registers.js';

export type { Document } from './generate.js';

/** The rows of a register that a question needs: those whose columns have one of the named values. */
export interface WantedRows {
  readonly register: keyof ReturnType<typeof registers>;
  readonly where: Readonly<Record<string, readonly string[]>>;
}

/** A question with what the evidence for it has to contain. */
export interface EvidenceQuestion {
  readonly id: string;
  readonly kind: string;
  readonly type: string;
  /** What the user, the assistant, and the user again say; the last one is the question. */
  readonly turns: readonly string[];
  /** Each of these facts is expected, in one of its forms. */
  readonly facts: readonly (readonly string[])[];
  /** Rows that are expected; their first columns are the facts. */
  readonly rows?: WantedRows;
  /** File names of the documents with the facts. */
  readonly documents: readonly string[];
  /** What a language model that does not know the documents would search for. */
  readonly queries: readonly string[];
}

const folder = join(projectRoot, 'bench', 'evidence');
/** Documents of `bench/answers` that make the search harder, by the kind whose collection they are in. */
const distractors: Readonly<Record<string, string>> = {
  handbook: 'policies',
  terms: 'policies',
  german: 'policies',
  manual: 'devices',
  howto: 'devices',
  leaflets: 'devices',
  minutes: 'minutes',
  history: 'minutes',
  software: 'api',
  tables: 'registers',
};

/** Reads all questions, in the order of the file. */
export function readQuestions(): EvidenceQuestion[] {
  const lines = readFileSync(join(folder, 'questions.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const question = JSON.parse(line) as EvidenceQuestion;
    return question.rows ? { ...question, facts: rowFacts(question.rows) } : question;
  });
}

/** The first columns of the wanted rows. */
function rowFacts({ register, where }: WantedRows): string[][] {
  const { columns, rows } = registers()[register];
  const conditions = Object.entries(where).map(([column, values]) => ({
    index: columns.indexOf(column),
    values,
  }));
  return rows
    .filter((row) => conditions.every(({ index, values }) => values.includes(row[index] ?? '')))
    .map(([name]) => [name!]);
}

/** The documents of all collections. */
export function readDocuments(): Document[] {
  const documents = join(folder, 'documents');
  const written = readdirSync(documents).flatMap((kind) =>
    readdirSync(join(documents, kind)).map((name): Document => {
      const text = readFileSync(join(documents, kind, name), 'utf8');
      return { kind, name, text, body: text };
    }),
  );
  const others = readOtherDocuments().flatMap((document) => {
    const kind = distractors[document.kind];
    return kind === undefined ? [] : [{ ...document, kind }];
  });
  return [...written, ...generateDocuments(), ...others];
}

/** The titles that a label may show in place of the file's name. */
export function titleOf({ text }: Document): string | undefined {
  const title = /^title: (.+)$/m.exec(text) ?? /<title>(.+?)<\/title>/.exec(text) ?? /^# (.+)$/m.exec(text);
  return title?.[1];
}
