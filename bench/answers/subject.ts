/**
 * Measures answers as a user sees them: documents of many kinds, written for this, are ingested into a collection for each kind, and
 * questions are asked through the gateway with the bundled models.
 */
import { writeFileSync } from 'node:fs';
import { startStack } from '#platform/testing';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { ask, ingest } from './ask.js';
import { judge } from './judge.js';
import { halfOf, readDocuments, readQuestions, type Question } from './questions.js';
import { report, type Judged } from './report.js';

/** The collection that holds the documents of all kinds. */
const everything = 'all';

/** Errors: no question is of that half and these kinds. */
function chosen({ half, only }: BenchOptions): Question[] {
  const kinds = only?.split(',');
  const questions = readQuestions().filter(
    ({ id, kind }) => (half === 'both' || halfOf(id) === half) && (kinds?.includes(kind) ?? true),
  );
  if (questions.length === 0) throw new Error(`No questions: --half ${half}, --only ${only ?? ''}`);
  return questions;
}

async function askAll(url: string, questions: readonly Question[], isTogether: boolean): Promise<Judged[]> {
  const kinds = new Set(questions.map(({ kind }) => kind));
  const documents = readDocuments();
  if (isTogether) await ingest(url, everything, documents);
  else
    for (const kind of kinds)
      await ingest(
        url,
        kind,
        documents.filter((document) => document.kind === kind),
      );
  const judged: Judged[] = [];
  for (const question of questions) {
    const answer = await ask(url, isTogether ? everything : question.kind, question);
    judged.push({ question, answer, verdict: judge(question, answer) });
  }
  return judged;
}

/** Writes the answers of the tuned half; those of the held half are not shown to anyone. */
function writeAnswers(file: string, judged: readonly Judged[]): void {
  const lines = judged
    .filter(({ question }) => halfOf(question.id) === 'tune')
    .map(({ question, answer, verdict }) => JSON.stringify({ ...question, ...answer, ...verdict }));
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
}

/** Says what was asked, and what the columns mean. */
function legend(asked: number, { together }: BenchOptions): string {
  const where = together ? 'all in one collection' : 'a collection for each kind';
  return `${asked} questions about ${readDocuments().length} documents, ${where}. Right: the complete expected fact is shown. First: it is among the
first 60 words. Clean: also without a preface (a hedge, “Closest passage”), without rows as labels and values, shortcodes and fences, and at most 120
words. Wrong refusals: the answer exists, and the product says that it found none. Unanswerable questions are right if it says so, small talk if the
reply is short and nothing was searched.`;
}

/** The answers of the default profile to questions about the documents of this folder. */
export const subject: Subject = {
  async run(options) {
    const questions = chosen(options);
    const stack = await startStack({
      env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '120000', WEB_UI: 'false' },
    });
    try {
      const judged = await askAll(stack.service('gateway').url, questions, options.together);
      if (options.answers !== undefined) writeAnswers(options.answers, judged);
      return `## Answers as a user sees them\n\n${legend(judged.length, options)}\n\n${report(judged)}`;
    } finally {
      await stack.stop().catch((error: unknown) => console.error(error));
    }
  },
};
