import { pairsOf, splitWords, stemOf } from '#engine/encoders';
import { remember } from '#platform/foundation';
import { isTerm, nameEvidence, nameEvidenceNames, nameOfRow, shareOf } from './name-evidence.js';
import { answersType, questionType, type QuestionType } from './question/question-type.js';
import { labelsOf } from './passage-labels.js';
import type { Candidate, ReadPassage, Sentence } from './sentence.js';
import { stemsOf } from './stems.js';

/** Features of the fusion, in the order of its weights. models/nano-reader/fusion.json has the same names. */
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
  'item',
  'row',
  'code',
  'announces',
  'term',
  'first of a term',
  'found anywhere',
  'names found nowhere',
  'passage rank',
  'passage words',
  'heading words',
  'words with context',
  'term asked',
  'way and term',
  'way and code',
  ...nameEvidenceNames,
  'reader',
  'reader behind the best',
  'reader before the next',
  'reader share',
] as const;

/** Every sentence of the passages as a candidate to answer a question. */
export function candidatesOf(question: string, passages: readonly ReadPassage[]): Candidate[] {
  const asked = new Set(stemsOf(question));
  const labelOf = labelsOf(passages);
  return passages.flatMap(({ sentences, heading, headings, document, isOutlined }) => {
    const body = sentences.map(({ text }) => text).join(' ');
    const passage = heading === '' ? body : `${heading}. ${body}`;
    const innermost = subjectOf(headings);
    const label = labelOf(headings);
    const subject = innermost === '' ? '' : label;
    const term = isTerm(innermost) ? innermost : '';
    return sentences.map((sentence, index) => ({
      sentence,
      term,
      ...named(sentence, sentences, { subject, term, asked }),
      before: sentences[index - 1]?.text ?? headings.slice(0, subject === '' ? undefined : -1).join(', '),
      after: sentences[index + 1]?.text ?? '',
      heading,
      label,
      document,
      isOutlined,
      passage,
    }));
  });
}

/** The subject of a sentence: the row of a table that it continues, otherwise the innermost heading of its passage. */
function named(
  sentence: Sentence,
  sentences: readonly Sentence[],
  { subject, term, asked }: { subject: string; term: string; asked: ReadonlySet<string> },
): Pick<Candidate, 'name' | 'lead' | 'text'> {
  const { text, kind, block } = sentence;
  const about = { subject, isTerm: term !== '', asked };
  if (kind !== 'row') return { name: term, ...withLead(about, text) };
  const first = sentences.find((other) => other.block === block)!;
  const name = nameOfRow(first.text) || term;
  if (first === sentence || name === '' || text.includes(name)) return { name, ...withLead(about, text) };
  return { name, lead: name, text: `${name}: ${text}` };
}

/** The innermost heading as the subject of a passage; empty where the only heading is the document's title. */
function subjectOf(headings: readonly string[]): string {
  return headings.length > 1 ? headings.at(-1)! : '';
}

/** Adds a term to each sentence about it, and a heading with words of the question that the sentence lacks. */
function withLead(
  { subject, isTerm, asked }: { subject: string; isTerm: boolean; asked: ReadonlySet<string> },
  text: string,
): Pick<Candidate, 'lead' | 'text'> {
  if (subject === '' || text.toLowerCase().includes(subject.toLowerCase())) return { lead: '', text };
  const own = new Set(stemsOf(text));
  const adds = stemsOf(subject).some((stem) => asked.has(stem) && !own.has(stem));
  return isTerm || adds ? { lead: subject, text: `${subject}: ${text}` } : { lead: '', text };
}

/** Beginnings of questions that a command, an option or a step answers. */
const wayPattern =
  /^(?:and )?(?:how (?:do|can|could|should|to|does|is|are)\b|(?:which|what) (?:option|command|flag|parameter|setting|variable)s?\b)/i;

/** Whether a command, an option or a step answers a question. */
export function asksForWay(question: string): boolean {
  return wayPattern.test(question.trim());
}

const pronoun = /^(?:it|its|he|she|they|his|her|their|this|these|that|those)\b/i;

/**
 * The evidence for each candidate besides the reader: words of the question in it and around it (words of few
 * candidates count more), its place, and whether it contains a name, a date or a number that the question asks for.
 */
export function lexicalEvidence(question: string, candidates: readonly Candidate[]): number[][] {
  const wanted = meaningfulStems(question);
  const words = [...new Set(wanted)];
  const pairs = pairsOf(wanted);
  const type = questionType(question);
  const stems = candidates.map(({ text }) => stemsOf(text));
  const sets = stems.map((list) => new Set(list));
  const asking = new Set(words);
  const total = Math.max(1, words.length);
  const setOf = remember((text) => new Set(stemsOf(text)));
  const local = localWeights(words, sets);
  const localTotal = [...local.values()].reduce((sum, value) => sum + value, 0) || 1;
  const share = (text: ReadonlySet<string>, except?: ReadonlySet<string>) =>
    words.filter((word) => text.has(word) && !except?.has(word)).length / total;
  const ways = asksForWay(question);
  const passageWords = rareWords(words, [...new Set(candidates.map(({ passage }) => passage))].map(setOf));
  const texts = new Set(candidates.flatMap(({ passage, lead }) => [passage, lead]));
  const anywhere = new Set([...texts].flatMap((text) => [...setOf(text)]));
  const known = [...new Set(namesOf(question))];
  const missing = known.filter((name) => !anywhere.has(name)).length / Math.max(1, known.length);
  const names = nameEvidence(question, { stemsOf: setOf, ways });
  return candidates.map((candidate, index) => {
    const { sentence, term, text, before, after, heading, passage } = candidate;
    const own = sets[index]!;
    const whole = setOf(passage);
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
      ...typeEvidence(type, text, question),
      Number(sentence.kind === 'item'),
      Number(sentence.kind === 'row'),
      Number(sentence.kind === 'code'),
      Number(/[:,]\s*$/.test(sentence.text)),
      Number(term !== ''),
      Number(term !== '' && sentence.index === 0),
      share(anywhere),
      missing,
      1 / sentence.passage,
      passageWords(whole),
      passageWords(setOf(heading)),
      passageWords(new Set([...own, ...setOf(heading), ...setOf(before), ...setOf(after)])),
      term === '' ? 0 : shareOf(setOf(term), asking),
      Number(ways && term !== ''),
      Number(ways && sentence.kind === 'code'),
      ...names(candidate),
    ];
  });
}

/** Words of questions that no text has to have: auxiliary verbs, pronouns and the like. */
const unspoken = new Set(
  (
    'i you me my we us our your he she they them their there those these this does do did doing done can could would should ' +
    'shall will may might must about because just than then so also no cannot get got really please ' +
    'ich du wir uns mir mich mein meine man sie er es ihr wie wer was wann wo warum welche welcher welches welchen welchem der die ' +
    'das den dem des ein eine einen einem einer ist sind war wird werden wurde kann können darf dürfen muss müssen soll sollte hat ' +
    'habe haben in im am an auf für von vom zu zum zur mit und oder nicht bei nach um'
  ).split(' '),
);

/** The stems of the words of a question that a text may have; all of them where none is left. */
function meaningfulStems(question: string): string[] {
  const plain = question
    .replaceAll(/\bhow (?:long|often|far|many|much)\b/gi, 'how')
    .replaceAll(/[\p{L}\p{N}]+/gu, (word) => (unspoken.has(word.toLowerCase()) ? ' ' : word));
  const stems = stemsOf(plain);
  return stems.length > 0 ? stems : stemsOf(question);
}

/** The evidence of the reader's scores for each candidate, compared with the other candidates. */
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

/** Stems of names and numbers: words with a digit, and capitalized words after the first word. */
function namesOf(question: string): string[] {
  const words = splitWords(question);
  return words.flatMap((word, index) =>
    /\p{Nd}/u.test(word) || (index > 0 && /^\p{Lu}/u.test(word)) ? (stemOf(word) ?? []) : [],
  );
}

/** The weight of each word of the question. A word of few candidates counts more. */
function localWeights(words: readonly string[], sets: readonly ReadonlySet<string>[]): Map<string, number> {
  return new Map(
    words.map((word) => {
      const holding = sets.filter((set) => set.has(word)).length;
      return [word, holding === 0 ? 0 : Math.log(1 + sets.length / (0.5 + holding))];
    }),
  );
}

/** Whether a sentence contains the kind of answer that the question asks for. */
function typeEvidence(type: QuestionType, text: string, question: string): number[] {
  const { holds, fresh } = answersType(type, text, question);
  return [
    Number(type === 'number' && holds),
    Number(type === 'number' && fresh),
    Number(type === 'date' && holds),
    Number(type === 'date' && fresh),
    Number(type === 'person' && holds),
    Number(type === 'place' && holds),
    Number(type === 'reason' && holds),
  ];
}

/** The share of the words of some passages that a text has. Words of few passages count more. */
function rareWords(
  words: readonly string[],
  passages: readonly ReadonlySet<string>[],
): (text: ReadonlySet<string>) => number {
  const weights = words.flatMap((word) => {
    const holding = passages.filter((passage) => passage.has(word)).length;
    return holding === 0 ? [] : [{ word, weight: Math.log(1 + passages.length / (holding - 0.5)) }];
  });
  const total = weights.reduce((sum, { weight }) => sum + weight, 0) || 1;
  return (text) => weights.reduce((sum, { word, weight }) => sum + (text.has(word) ? weight : 0), 0) / total;
}
