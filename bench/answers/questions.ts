import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { workbook, type Sheets } from './workbook.js';

/** The half that answers are tuned on, and the half that is looked at once, as totals. */
export type Half = 'tune' | 'held';

/** A question, or the turns of a dialogue of which the last one is judged. */
export interface Question {
  id: string;
  /** The folder of documents that it is about. */
  kind: string;
  type: string;
  turns: string[];
  /** A right answer contains one of these texts. */
  answers: string[];
  /** A right answer contains one text of each of these groups. */
  all: string[][];
  /** A right answer contains none of these texts, e.g. the value of another product. */
  wrong: string[];
  /** File names of the documents that hold the answer. */
  documents: string[];
  /** The expected text is among that many first words; for short numbers, which also occur by chance. */
  within?: number;
  /** The question asks for code or a command. */
  code: boolean;
  /** The question limits the length of the answer. */
  maxWords?: number;
}

type Row = Partial<Question> & Pick<Question, 'id' | 'kind' | 'type' | 'documents'> & { question?: string };

/** A document of one kind. */
export interface Document {
  kind: string;
  name: string;
  /** The text of the file; of a workbook, its cells as JSON. */
  text: string;
  /** The file as it is ingested. */
  body: string | Buffer<ArrayBuffer>;
}

const folder = join(projectRoot, 'bench', 'answers');
/** Was chosen before any answer was seen, such that most types are split evenly. */
const salt = 9515;

/** Returns the half of a question; it depends on the identifier alone, so that new questions do not move others. */
export function halfOf(id: string): Half {
  return createHash('sha256').update(`${salt}:${id}`).digest()[0]! % 2 === 0 ? 'tune' : 'held';
}

/** Reads all questions, in the order of the file. */
export function readQuestions(): Question[] {
  const lines = readFileSync(join(folder, 'questions.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { question, turns, ...row } = JSON.parse(line) as Row;
    return { answers: [], all: [], wrong: [], code: false, ...row, turns: turns ?? [question!] };
  });
}

/** Reads the documents of all kinds. Workbooks are kept as JSON, and are made here. */
export function readDocuments(): Document[] {
  const documents = join(folder, 'documents');
  return readdirSync(documents).flatMap((kind) =>
    readdirSync(join(documents, kind)).map((file) => {
      const text = readFileSync(join(documents, kind, file), 'utf8');
      const isWorkbook = file.endsWith('.xlsx.json');
      const body = isWorkbook ? workbook(JSON.parse(text) as Sheets) : text;
      return { kind, name: isWorkbook ? file.replace(/\.json$/, '') : file, text, body };
    }),
  );
}
