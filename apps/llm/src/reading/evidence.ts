import { splitWords, stemOf } from '#encoders';
import { answersType, questionType } from './question-type.js';
import type { ReadPassage, Sentence } from './sentence.js';

/** A sentence with what stands around it. */
export interface Candidate {
  readonly sentence: Sentence;
  readonly before: string;
  readonly after: string;
  readonly heading: string;
  /** The whole passage, its headings included. */
  readonly passage: string;
}

/** What the fusion is fitted on, in this order; models/nano-reader/fusion.json names them too. */
export const evidenceNames = [
  'overlap',
  'passage',
  'before',
  'after',
  'heading',
  'local overlap',
  'pairs',
  'first passage',
  'second passage',
  'first sentence',
  'length',
  'new words',
  'pronoun',
  'number',
  'new number',
  'date',
  'new date',
  'name of a person',
  'name of a place',
  'reason',
  'reader',
  'reader behind the best',
  'reader before the next',
  'reader share',
] as const;

/** Every sentence of the passages as a candidate. */
export function candidatesOf(passages: readonly ReadPassage[]): Candidate[] {
  return passages.flatMap(({ sentences, heading }) => {
    const body = sentences.map(({ text }) => text).join(' ');
    const passage = heading === '' ? body : `${heading}. ${body}`;
    return sentences.map((sentence, index) => ({
      sentence,
      before: sentences[index - 1]?.text ?? '',
      after: sentences[index + 1]?.text ?? '',
      heading,
      passage,
    }));
  });
}

const pronoun = /^(?:it|its|he|she|they|his|her|their|this|these|that|those)\b/i;

/** Stems of a text that tell something, in order. */
export function stemsOf(text: string): string[] {
  return splitWords(text).flatMap((word) => stemOf(word) ?? []);
}

/**
 * What speaks for each candidate besides the reader: words of the question in it and around it (those that few candidates
 * have count more), its place, and whether it holds a name, a date or a number where one is asked for.
 */
export function lexicalEvidence(question: string, candidates: readonly Candidate[]): number[][] {
  const asked = stemsOf(question);
  const words = [...new Set(asked)];
  const pairs = pairsOf(asked);
  const type = questionType(question);
  const stems = candidates.map(({ sentence }) => stemsOf(sentence.text));
  const sets = stems.map((list) => new Set(list));
  const asking = new Set(words);
  const total = Math.max(1, words.length);
  const local = new Map(
    words.map((word) => {
      const holding = sets.filter((set) => set.has(word)).length;
      return [word, holding === 0 ? 0 : Math.log(1 + sets.length / (0.5 + holding))];
    }),
  );
  const localTotal = [...local.values()].reduce((sum, value) => sum + value, 0) || 1;
  const share = (text: ReadonlySet<string>, except?: ReadonlySet<string>) =>
    words.filter((word) => text.has(word) && !except?.has(word)).length / total;
  const setOf = remember((text) => new Set(stemsOf(text)));
  return candidates.map(({ sentence, before, after, heading, passage }, index) => {
    const own = sets[index]!;
    const whole = setOf(passage);
    const { holds, fresh } = answersType(type, sentence.text, question);
    const ownPairs = pairsOf(stems[index]!);
    return [
      share(own),
      share(whole),
      share(setOf(before), own),
      share(setOf(after), own),
      share(setOf(heading), own),
      words.reduce((sum, word) => sum + (own.has(word) ? local.get(word)! : 0), 0) / localTotal,
      [...pairs].filter((pair) => ownPairs.has(pair)).length / Math.max(1, pairs.size),
      Number(sentence.passage === 1),
      Number(sentence.passage === 2),
      Number(sentence.index === 0),
      Math.log(1 + stems[index]!.length),
      Math.min([...own].filter((stem) => !asking.has(stem)).length, 12) / 12,
      Number(pronoun.test(sentence.text)),
      Number(type === 'number' && holds),
      Number(type === 'number' && fresh),
      Number(type === 'date' && holds),
      Number(type === 'date' && fresh),
      Number(type === 'person' && holds),
      Number(type === 'place' && holds),
      Number(type === 'reason' && holds),
    ];
  });
}

/** What the reader's scores say of each candidate among the others. */
export function readerEvidence(scores: readonly number[]): number[][] {
  const ordered = scores.toSorted((left, right) => right - left);
  const best = ordered[0] ?? 0;
  const second = ordered[1] ?? best;
  const sum = scores.reduce((total, score) => total + Math.exp(score - best), 0);
  return scores.map((score) => [
    score,
    score - best,
    score - (score === best ? second : best),
    Math.exp(score - best) / sum,
  ]);
}

function pairsOf(stems: readonly string[]): Set<string> {
  return new Set(stems.slice(1).map((stem, index) => `${stems[index]} ${stem}`));
}

function remember<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const value = known.get(text) ?? compute(text);
    known.set(text, value);
    return value;
  };
}
