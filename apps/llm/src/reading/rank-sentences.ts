import type { Reader } from '#encoders';
import { candidatesOf, lexicalEvidence, readerEvidence } from './evidence.js';
import { confidenceEvidence, regress, sigmoid, type Fusion, type Judgement } from './fusion.js';
import { repeatsOf } from './repeats-question.js';
import type { Candidate, ReadPassage } from './sentence.js';

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
