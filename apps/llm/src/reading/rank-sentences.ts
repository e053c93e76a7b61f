import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '#encoders';
import { z } from 'zod';
import { candidatesOf, evidenceNames, lexicalEvidence, readerEvidence } from './evidence.js';
import { repeatsOf } from './repeats-question.js';
import type { Candidate, ReadPassage } from './sentence.js';

const regressionSchema = z.strictObject({ weights: z.array(z.number()), bias: z.number() });

const judgementSchema = z.strictObject({
  /** Which sentence answers, from the evidence of each. */
  rank: regressionSchema,
  /** Whether the first of them does, from its evidence and its lead over the second. */
  confidence: regressionSchema,
  /**
   * Below `answer` nothing is quoted; below `sure` a second sentence is, and the answer says that it may be wrong; below
   * `doubtful` a third one.
   */
  thresholds: z.strictObject({ answer: z.number(), doubtful: z.number(), sure: z.number() }),
  /** How much likelier a further quote counts, in logits, if another passage holds it: those of the first may be the wrong ones. */
  elsewhere: z.number(),
});

const fusionSchema = z.strictObject({
  evidence: z.array(z.string()),
  /** For passages of documents without headings. */
  prose: judgementSchema,
  /** For passages below headings, as handbooks and manuals have them. */
  outlined: judgementSchema,
});

/** How evidence of one kind of passages becomes an order and a probability. */
export type Judgement = z.infer<typeof judgementSchema>;

/** How the reader's scores and the lexical evidence become one order and one probability. */
export type Fusion = z.infer<typeof fusionSchema>;

/** Reads `fusion.json` of a reader's folder. Errors: a file that is missing, or that was fitted on other evidence. */
export function readFusion(directory: string): Fusion {
  const path = join(directory, 'fusion.json');
  const fusion = fusionSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const fits =
    fusion.evidence.join() === evidenceNames.join() &&
    [fusion.prose, fusion.outlined].every(
      ({ rank, confidence }) =>
        rank.weights.length === evidenceNames.length &&
        confidence.weights.length === evidenceNames.length + 2,
    );
  if (!fits)
    throw new Error(`${path} was fitted on other evidence; tools/training/reader/fit.mjs fits it again`);
  return fusion;
}

/** The logit of a regression. */
export function regress({ weights, bias }: Judgement['rank'], values: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * values[index]!, bias);
}

/** Evidence for the first sentence of an order: its own, its logit, and its lead over the next. */
export function confidenceEvidence(
  evidence: readonly number[],
  logit: number,
  next: number | undefined,
): number[] {
  return [...evidence, logit, logit - (next ?? logit - 6)];
}

/** Logit to probability. */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

export interface RankedSentence {
  readonly candidate: Candidate;
  readonly logit: number;
}

/** Sentences of passages, the likeliest to answer first. */
export interface Ranking {
  readonly ranked: readonly RankedSentence[];
  /** That the first one answers, 0–1. */
  readonly confidence: number;
  /** Quotes that the confidence asks for: none where nothing answers, one where the first sentence surely does. */
  readonly quotes: number;
  /** How much likelier a further quote counts, in logits, if another passage holds it. */
  readonly elsewhere: number;
  /** Tokens that the reader read. */
  readonly promptTokens: number;
}

/** Sentences that the reader reads, those with most of the question's words: more take longer and answer no better. */
export const mostRead = 12;

/** Ranks the sentences of passages; one that only repeats a question that was `asked` is none of them. Errors: those of the reader. */
export async function rankSentences(
  question: string,
  passages: readonly ReadPassage[],
  { reader, fusion, asked }: { reader: Pick<Reader, 'read'>; fusion: Fusion; asked: readonly string[] },
  signal?: AbortSignal,
): Promise<Ranking> {
  const repetitions = asked.map((each) => repeatsOf(each));
  const repeats = (text: string) => repetitions.some((repeatsOne) => repeatsOne(text));
  const all = candidatesOf(question, passages).filter(({ sentence }) => !repeats(sentence.text));
  const lexical = lexicalEvidence(question, all);
  const chosen = all
    .map((candidate, index) => ({ candidate, words: lexical[index]! }))
    .toSorted((left, right) => worth(right.words) - worth(left.words))
    .slice(0, mostRead);
  if (chosen.length === 0) return { ranked: [], confidence: 0, quotes: 0, elsewhere: 0, promptTokens: 0 };
  const sentences = chosen.map(({ candidate: { text, before, after, passage } }) => ({
    text,
    before,
    after,
    passage,
  }));
  const { scores, promptTokens } = await reader.read(question, sentences, signal);
  const read = readerEvidence(scores);
  const ranked = chosen
    .map(({ candidate, words }, index) => {
      const evidence = [...words, ...read[index]!];
      return { candidate, evidence, logit: regress(judgementOf(fusion, candidate).rank, evidence) };
    })
    .toSorted((left, right) => right.logit - left.logit);
  const [first, second] = ranked;
  const judgement = judgementOf(fusion, first!.candidate);
  const certain = confidenceEvidence(first!.evidence, first!.logit, second?.logit);
  const confidence = sigmoid(regress(judgement.confidence, certain));
  const { elsewhere, thresholds } = judgement;
  return { ranked, confidence, quotes: quotesFor(confidence, thresholds), elsewhere, promptTokens };
}

/** How candidates of a passage are judged: below headings other evidence counts than in prose without any. */
function judgementOf({ prose, outlined }: Fusion, { isOutlined }: Candidate): Judgement {
  return isOutlined ? outlined : prose;
}

/** Quotes that a confidence asks for: none where nothing answers, more than one where the first may be wrong. */
export function quotesFor(confidence: number, { answer, sure, doubtful }: Judgement['thresholds']): number {
  if (confidence < answer) return 0;
  if (confidence >= sure) return 1;
  return confidence < doubtful ? 3 : 2;
}

/** Overlap with the question in the sentence, half as much around it. */
export function worth([own = 0, passage = 0]: readonly number[]): number {
  return own + passage / 2;
}
