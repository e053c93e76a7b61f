import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testData } from '#platform/foundation';

/** Passages, and questions that one of them answers. */
export interface Dataset {
  name: string;
  /** Description for the report. */
  description: string;
  passages: string[];
  questions: Question[];
}

export interface Question {
  text: string;
  /** Index of the answering passage. */
  passage: number;
}

interface SquadLine {
  context: string;
  qas: { question: string; is_impossible: boolean }[];
}

/** Returns the available datasets; a missing one is reported on standard error. */
export function loadDatasets(): Dataset[] {
  const loaders: [string, (path: string) => Dataset][] = [
    ['squad/passages-questions.jsonl', loadSquad],
    ['nano-eval/retrieval', loadNanoEval],
  ];
  return loaders.flatMap(([path, load]) => {
    const full = testData('data', path);
    if (existsSync(full)) return [load(full)];
    console.error(`skipped: ${full} is absent (see "Test data" in CONTRIBUTING.md)`);
    return [];
  });
}

function readLines<Line>(path: string): Line[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

function loadSquad(path: string): Dataset {
  const lines = readLines<SquadLine>(path);
  return {
    name: 'SQuAD',
    description: 'passages of Wikipedia, the questions that people asked about them',
    passages: lines.map((line) => line.context),
    questions: lines.flatMap(({ qas }, passage) =>
      qas.filter((qa) => !qa.is_impossible).map((qa) => ({ text: qa.question, passage })),
    ),
  };
}

function loadNanoEval(folder: string): Dataset {
  const passages = readLines<{ _id: string; text: string }>(join(folder, 'corpus.jsonl'));
  const queries = readLines<{ _id: string; text: string }>(join(folder, 'queries.jsonl'));
  const relevant = new Map(
    readFileSync(join(folder, 'qrels.tsv'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([query, passage]) => [query, passages.findIndex(({ _id }) => _id === passage)]),
  );
  return {
    name: 'nano-eval',
    description: 'passages of technical documentation, generated queries',
    passages: passages.map(({ text }) => text),
    questions: queries.map(({ _id, text }) => ({ text, passage: relevant.get(_id) ?? -1 })),
  };
}

export type Half = 'tuning' | 'reported';

/**
 * Returns up to `size` questions of one half, always the same ones. The halves do not share passages: settings are
 * chosen on one half and reported on the other.
 */
export function sampleQuestions({ questions }: Dataset, half: Half, size: number): Question[] {
  const candidates = questions.filter(({ passage }) => passage % 2 === (half === 'tuning' ? 0 : 1));
  const random = randomNumbers(2026);
  const drawn = candidates.map((question) => ({ question, order: random() }));
  return drawn
    .sort((left, right) => left.order - right.order)
    .slice(0, size)
    .map(({ question }) => question);
}

/** Reproducible numbers in [0, 1): mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
