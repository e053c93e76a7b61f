import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '#engine/encoders';
import { questionTopic } from './question/question-topic.js';
import { alignQuestion } from './question/align-question.js';
import { affirms, deniedBy } from './question/negation.js';
import { detectLanguage, remember } from '#platform/foundation';
import { asksForCode } from '#answers/evidence';
import { asksTheSame, englishWordsFor, withEnglishQuestionWords } from '#answers/questions';
import { z } from 'zod';
import { candidatesOf, evidenceNames, lexicalEvidence, readerEvidence } from './evidence.js';
import { namedDocuments } from './question/named-documents.js';
import { namedPart } from './question/numbered-part.js';
import { repeatsOf } from './question/repeats-question.js';
import { inWordsOf } from './words/synonyms.js';
import { stemsOf } from './stems.js';
import { isLabel, lastHeading, type Candidate, type ReadPassage } from './sentence.js';

const regressionSchema = z.strictObject({ weights: z.array(z.number()), bias: z.number() });

const judgementSchema = z.strictObject({
  /** Ranks the sentences by their evidence. */
  rank: regressionSchema,
  /** Confidence in the block of the first sentence, from the evidence of this sentence and its lead over the second. */
  confidence: regressionSchema,
  /**
   * Confidence below `near`: a bare refusal. Below `closest`: a refusal with the closest passage. Below `answer`: what is
   * shown is called the closest passage.
   */
  thresholds: z.strictObject({ near: z.number(), closest: z.number(), answer: z.number() }),
  /** Bonus in logits for a further block from another passage, because the first passage may be the wrong one. */
  elsewhere: z.number(),
});

const fusionSchema = z.strictObject({
  evidence: z.array(z.string()),
  /** For passages of documents without headings. */
  prose: judgementSchema,
  /** For passages below headings, as in handbooks and manuals. */
  outlined: judgementSchema,
});

/** Regressions from the evidence of one kind of passages to a ranking and a probability. */
export type Judgement = z.infer<typeof judgementSchema>;

/** Regressions from the reader's scores and the lexical evidence to a ranking and a probability. */
export type Fusion = z.infer<typeof fusionSchema>;

/** Reads `fusion.json` of a reader's folder. Errors: the file is missing, or it was fitted on other evidence. */
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

/** Evidence for the first sentence of a ranking: its own evidence, its logit, and its lead over the next sentence. */
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

/** Whether passages answer a question: probably, perhaps, probably not, or not at all. */
export type Certainty = 'answer' | 'closest' | 'near' | 'none';

/** Sentences of passages, the most likely answer first. */
export interface Ranking {
  readonly ranked: readonly RankedSentence[];
  /** Probability that the block of the first sentence answers, 0–1. */
  readonly confidence: number;
  readonly certainty: Certainty;
  /** Bonus in logits for a further block from another passage. */
  readonly elsewhere: number;
  /** Tokens that the reader read. */
  readonly promptTokens: number;
}

/** Number of sentences for the reader, those with most words of the question. More take longer without a benefit. */
export const maxRead = 12;

/** Confidence up to which a passage does not answer if the things that are counted stand nowhere. */
const sureWithoutThing = 0.6;

/** Bonus in logits for the sentences of a document that the question names. */
const bonusOfNamed = 1.5;
/** Bonus in logits for the text below a heading that asks the question, or is the part that it names; and the least confidence in it. */
const bonusOfAsked = 5;
const confidenceOfAsked = 0.85;
/**
 * Bonus in logits for the confidence in a German passage for a German question. The regression was fitted to English; of 24
 * German answers with a confidence from 0.2 on 20 were right.
 */
const bonusOfGerman = 0.6;
/** Penalty in logits for a sentence that affirms what the question denies: it comes after all others that may answer. */
const penaltyOfOpposite = 6;

/** Ranks the sentences of passages without those that only repeat a question in `asked`. Errors: of the reader. */
export async function rankSentences(
  question: string,
  passages: readonly ReadPassage[],
  { reader, fusion, asked }: { reader: Pick<Reader, 'read'>; fusion: Fusion; asked: readonly string[] },
  signal?: AbortSignal,
): Promise<Ranking> {
  const repetitions = asked.map((each) => repeatsOf(each));
  const repeats = (text: string) => repetitions.some((repeatsOne) => repeatsOne(text));
  const aligned = withWordsOf(passages, alignQuestion(question, passages));
  const all = answering(question, candidatesOf(aligned, passages)).filter(
    ({ sentence }) => !repeats(sentence.text),
  );
  const readable = inWords({ asked: question, question: aligned }, all);
  const lexical = lexicalEvidence(aligned, readable);
  const chosen = all
    .map((candidate, index) => ({ candidate, said: readable[index]!, words: lexical[index]! }))
    .toSorted((left, right) => worth(right.words) - worth(left.words))
    .slice(0, maxRead);
  if (chosen.length === 0)
    return { ranked: [], confidence: 0, certainty: 'none', elsewhere: 0, promptTokens: 0 };
  const sentences = chosen.map(({ said: { text, before, after, passage } }) => ({
    text,
    before,
    after,
    passage,
  }));
  const named = namedDocuments(aligned, passages);
  const isPart = namedPart(question);
  const isAsked = ({ heading }: Candidate) =>
    asksTheSame(lastHeading(heading), question) || (isPart?.(heading.split(' > ')) ?? false);
  const { scores, promptTokens } = await reader.read(aligned, sentences, signal);
  const read = readerEvidence(scores);
  const denied = deniedBy(question);
  const ranked = chosen
    .map(({ candidate, words }, index) => {
      const evidence = [...words, ...read[index]!];
      const bonus =
        (named.has(candidate.document) ? bonusOfNamed : 0) + (isAsked(candidate) ? bonusOfAsked : 0);
      const isOpposite = isOppositeOf(denied, candidate);
      const rank = regress(judgementOf(fusion, candidate).rank, evidence);
      return { candidate, evidence, isOpposite, logit: rank + bonus - (isOpposite ? penaltyOfOpposite : 0) };
    })
    .toSorted((left, right) => right.logit - left.logit);
  const [first, second] = ranked;
  const judgement = judgementOf(fusion, first!.candidate);
  const certain = confidenceEvidence(first!.evidence, first!.logit, second?.logit);
  const isInGerman = [question, first!.candidate.passage].every(isGerman);
  const computed = sigmoid(regress(judgement.confidence, certain) + (isInGerman ? bonusOfGerman : 0));
  const confidence = isAsked(first!.candidate) ? Math.max(computed, confidenceOfAsked) : computed;
  const { elsewhere, thresholds } = judgement;
  const certainty = certaintyOf(confidence, thresholds);
  // The opposite of what is asked, and a passage about another thing, are at most shown below a refusal.
  const isOther = lacksThing({ asked: question, aligned }, readable, { certainty, confidence });
  const capped = (first!.isOpposite && certainty !== 'none') || isOther ? 'near' : certainty;
  return { ranked, confidence, certainty: capped, elsewhere, promptTokens };
}

const isGerman = (text: string) => detectLanguage(text) === 'de';

/** A German question over passages in another language has the question words of English, by which its type is known. */
function withWordsOf(passages: readonly ReadPassage[], question: string): string {
  if (!isGerman(question)) return question;
  const german = passages.filter(({ heading, sentences }) =>
    isGerman([heading, ...sentences.map(({ text }) => text)].join(' ')),
  );
  return german.length * 2 >= passages.length ? question : withEnglishQuestionWords(question);
}

/** The candidates in the words of the question, for a comparison of words. */
function inWords(
  { asked, question }: { asked: string; question: string },
  candidates: readonly Candidate[],
): Candidate[] {
  const translates = isGerman(asked);
  const toolOf = remember((passage) => {
    const translate = translates && !isGerman(passage) ? englishWordsFor : undefined;
    return remember(inWordsOf(question, new Set(stemsOf(passage)), translate));
  });
  return candidates.map((candidate) => {
    const { passage, text, before, after, heading, lead } = candidate;
    const say = toolOf(passage);
    return {
      ...candidate,
      passage: say(passage),
      text: say(text),
      before: say(before),
      after: say(after),
      heading: say(heading),
      lead: say(lead),
    };
  });
}

/** Whether what a question is about stands in none of the passages, so that a doubtful passage is about another thing. */
function lacksThing(
  { asked, aligned }: { asked: string; aligned: string },
  candidates: readonly Candidate[],
  { certainty, confidence }: { certainty: Certainty; confidence: number },
): boolean {
  const isDoubtful = certainty === 'closest' || (certainty === 'answer' && confidence <= sureWithoutThing);
  if (!isDoubtful) return false;
  const { counted, last } = questionTopic(aligned);
  const texts = new Set(candidates.flatMap(({ passage, document, lead }) => [passage, document, lead]));
  const known = new Set([...texts].flatMap((text) => stemsOf(text)));
  const isMissing = (stems: readonly string[]) => stems.some((stem) => !known.has(stem));
  // A German question often ends with its verb.
  return isMissing(counted) || (certainty === 'closest' && !isGerman(asked) && isMissing(last));
}

/** Whether a sentence affirms what the question denies. The heading, and what announces a list, may negate it. */
function isOppositeOf(
  denied: readonly string[],
  { text, before, heading, sentence }: Pick<Candidate, 'text' | 'before' | 'heading' | 'sentence'>,
): boolean {
  const context = sentence.kind === 'item' ? `${lastHeading(heading)} ${before}` : lastHeading(heading);
  return affirms(denied, text, context);
}

/** Candidates without code where the question does not ask for it, and without labels. If only these exist, all remain. */
export function answering(question: string, candidates: readonly Candidate[]): Candidate[] {
  const allowsCode = asksForCode(question);
  const headings = new Set(candidates.map(({ heading }) => plainHeading(heading)));
  const left = candidates.filter(
    ({ sentence }) =>
      (allowsCode || sentence.kind !== 'code') &&
      !isLabel(sentence) &&
      !(sentence.kind === 'item' && headings.has(plainHeading(sentence.text))),
  );
  return left.length > 0 ? left : [...candidates];
}

/** The innermost heading without its number and case: an item with this text is one of a table of contents. */
function plainHeading(heading: string): string {
  return lastHeading(heading).toLowerCase();
}

/** The judgement for a candidate: passages below headings have other weights than prose without headings. */
function judgementOf({ prose, outlined }: Fusion, { isOutlined }: Candidate): Judgement {
  return isOutlined ? outlined : prose;
}

/** The certainty of a confidence. */
export function certaintyOf(
  confidence: number,
  { near, closest, answer }: Judgement['thresholds'],
): Certainty {
  if (confidence < near) return 'none';
  if (confidence < closest) return 'near';
  return confidence < answer ? 'closest' : 'answer';
}

/** Overlap of the sentence with the question, plus half of the overlap around it. */
export function worth([own = 0, passage = 0]: readonly number[]): number {
  return own + passage / 2;
}
