import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#paths';
import { sentencesOf } from '../../apps/llm/src/grounding/sentences.js';

/** A question, passages, and what a right answer holds. */
export interface GroundingCase {
  question: string;
  passages: string[];
  /** Texts of which one must be in the answer; none where the passages hold no answer. */
  answers: string[];
  /** Number of the passage that holds it, from 1. */
  passage?: number;
}

export interface GroundingDataset {
  name: string;
  cases: GroundingCase[];
}

/** Beside the repository, never inside it: licences and size. */
const dataFolder = join(projectRoot, '..', 'shared', 'data');

/** The datasets that are there, at most `limit` cases of each; a missing one is reported on standard error. */
export function loadCases(limit: number): GroundingDataset[] {
  const squad = 'squad/passages-questions.jsonl';
  const loaders: [string, string, (path: string) => GroundingCase[]][] = [
    ['generated questions', 'nano-eval/grounded.jsonl', loadGenerated],
    ['questions by people (SQuAD)', squad, loadSquad],
    ['the same beside the question itself', squad, (path) => loadSquad(path).map(besideTheQuestion)],
  ];
  return loaders.flatMap(([name, path, load]) => {
    const full = join(dataFolder, path);
    if (existsSync(full)) return [{ name, cases: spread(load(full), limit) }];
    console.error(`skipped: ../shared/data/${path} is not there`);
    return [];
  });
}

interface GeneratedLine {
  question: string;
  passages: string[];
  answer: string;
  citation: number | null;
}

function loadGenerated(path: string): GroundingCase[] {
  return readLines<GeneratedLine>(path).map(({ question, passages, answer, citation }) => ({
    question,
    passages,
    answers: citation === null ? [] : [answer.replace(/ \[\d+\]$/, '')],
    passage: citation ?? undefined,
  }));
}

interface SquadLine {
  title: string;
  context: string;
  qas: { question: string; answers: string[]; is_impossible: boolean }[];
}

/** The sentence with the answer and its neighbours, beside three sentences of another passage on the same subject. */
function loadSquad(path: string): GroundingCase[] {
  const lines = readLines<SquadLine>(path);
  return lines.flatMap((line, index) => {
    const other = lines[index + 1]?.title === line.title ? lines[index + 1] : lines[index - 1];
    if (other?.title !== line.title) return [];
    return line.qas.flatMap(({ question, answers, is_impossible }, count) => {
      const window = is_impossible ? undefined : windowAround(line.context, answers);
      if (!window) return [];
      const distractor = sentencesOf(other.context).slice(0, 3).join(' ');
      const first = (index + count) % 2 === 0;
      return [
        {
          question,
          passages: first ? [window, distractor] : [distractor, window],
          answers,
          passage: first ? 1 : 2,
        },
      ];
    });
  });
}

/** The question stands in the passages too: in a command before them, or as the heading of the one with the answer. */
function besideTheQuestion(given: GroundingCase, index: number): GroundingCase {
  const { question, passages, passage = 1 } = given;
  const body = JSON.stringify({ text: question, k: 10 });
  const command = `curl http://127.0.0.1:8888/v1/search -H 'Content-Type: application/json' -d '${body}'`;
  if (index % 2 === 0) return { ...given, passages: [command, ...passages], passage: passage + 1 };
  const headed = passages.map((text, at) => (at + 1 === passage ? `${question}\n\n${text}` : text));
  return { ...given, passages: headed };
}

function windowAround(context: string, answers: readonly string[]): string | undefined {
  const sentences = sentencesOf(context);
  const index = sentences.findIndex((sentence) => answers.some((answer) => sentence.includes(answer)));
  if (index === -1) return undefined;
  const start = Math.max(0, Math.min(index - 1, sentences.length - 3));
  return sentences.slice(start, start + 3).join(' ');
}

function readLines<Line>(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Evenly spread over the whole, so that every subject has its share. */
function spread<Item>(items: readonly Item[], limit: number): Item[] {
  if (items.length <= limit) return [...items];
  return Array.from(
    { length: limit },
    (_unused, index) => items[Math.floor((index * items.length) / limit)]!,
  );
}
