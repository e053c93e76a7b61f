import type { FixedTexts } from '#answers/questions';
import { blockOf, blockOfSeveral, type AnswerBlock } from './answer-block.js';
import { compares } from './question/question-type.js';
import type { RankedSentence, Ranking } from './rank-sentences.js';
import { labelBefore } from './render-block.js';
import type { Candidate, ReadPassage } from './sentence.js';
import { stemsOf } from './stems.js';

/** Questions that more than one row or item may answer. */
const asksForSeveral =
  /^(?:and )?(?:which|what)(?: [\p{L}-]+){0,2} [\p{L}-]+s(?: (?:of|in|for|on|from|with)(?: [\p{L}-]+){1,3})? (?:are|do|does|can|have|were|is|must|may|should|exist)\b|^what are\b|^(?:list|name|enumerate)\b|\b(?:all|every|each of) the\b/iu;
/** Limit for the quoted rows and items. */
const maxQuoted = 8;
/** Maximum distance in logits of another row or item from the first one. */
const farBehind = 2.5;

/**
 * If the question asks for several things and the first sentence of the ranking is a row or an item: this sentence and
 * the rows or items of the same passage with nearly the same score, in the passage's order. Otherwise undefined.
 */
function severalOf(question: string, ranked: readonly RankedSentence[]): RankedSentence[] | undefined {
  const [first] = ranked;
  const kind = first?.candidate.sentence.kind;
  if (!first || (kind !== 'row' && kind !== 'item') || !asksForSeveral.test(question.trim()))
    return undefined;
  const kin = ranked.filter(
    ({ candidate: { sentence }, logit }) =>
      sentence.kind === kind &&
      sentence.passage === first.candidate.sentence.passage &&
      logit > first.logit - farBehind,
  );
  if (kin.length < 2) return undefined;
  return kin
    .slice(0, maxQuoted)
    .toSorted((left, right) => left.candidate.sentence.index - right.candidate.sentence.index);
}

/** Limit for the sentences that are quoted from the beginning of a passage. */
const maxOfBeginning = 2;

/** The first sentences of each passage: what a file is about, without a question to rank its sentences. */
export function beginningsOf(passages: readonly ReadPassage[]): AnswerBlock[] {
  const filled = passages.filter(({ sentences }) => sentences.length > 0);
  return filled.map((passage) => blockOfSeveral(passage.sentences.slice(0, maxOfBeginning), passage));
}

/** The closest passage below a refusal, which does not cite it. */
export function closestOf(
  question: string,
  { ranked }: Ranking,
  passages: readonly ReadPassage[],
  texts: FixedTexts,
): string {
  const { candidate } = ranked[0]!;
  const passage = passages[candidate.sentence.passage - 1]!;
  const { lead, text } = blockOf(candidate, passage, question);
  const source = sourceOf(passage);
  const opening = source === '' ? texts.closest[0] : texts.closestIn(source);
  return `\n\n${opening} ${text.includes('\n') ? '\n\n' : ''}${lead}${text}`;
}

/** The blocks of an answer: one, or two where the first may be wrong and where the question compares things. */
export function blocksOf(
  question: string,
  ranking: Ranking,
  passages: readonly ReadPassage[],
  texts: FixedTexts,
): AnswerBlock[] {
  const passageOf = (number: number) => passages[number - 1]!;
  const several = severalOf(question, ranking.ranked)?.map(({ candidate }) => candidate.sentence) ?? [];
  const blocks = several[0] ? [blockOfSeveral(several, passageOf(several[0].passage))] : [];
  const explained = new Set<string>();
  const isComparison = compares(question);
  const count = ranking.certainty === 'answer' && !isComparison ? 1 : 2;
  const stems = new Set(stemsOf(question));
  let rest = ranking.ranked.filter(({ candidate }) => !several.includes(candidate.sentence));
  while (blocks.length < count && rest.length > 0) {
    const next = likeliest(rest, blocks, ranking.elsewhere);
    rest = rest.filter((other) => other !== next);
    const { candidate } = next;
    const section = sectionOf(candidate);
    if (explained.has(section)) continue;
    // Further passages without a word of the question are noise.
    if (blocks.length > 0 && !isComparison && !hasWordOf(stems, candidate)) continue;
    if (section !== '') explained.add(section);
    const block = blockOf(candidate, passageOf(candidate.sentence.passage), question);
    const isNew = blocks.every(
      ({ text }) => !text.includes(candidate.sentence.text) && !block.text.includes(text),
    );
    if (isNew) blocks.push(block);
  }
  return withSources(blocks, passageOf, texts);
}

function hasWordOf(stems: ReadonlySet<string>, { text, heading, document, before }: Candidate): boolean {
  return stemsOf([text, heading, document, before].join(' ')).some((stem) => stems.has(stem));
}

/** Names the documents of blocks that come from several. */
function withSources(
  blocks: readonly AnswerBlock[],
  passageOf: (number: number) => ReadPassage,
  texts: FixedTexts,
): AnswerBlock[] {
  const sources = blocks.map(({ passage }) => sourceOf(passageOf(passage)));
  if (new Set(sources).size < 2 || sources.includes('')) return [...blocks];
  return blocks.map((block, index) => {
    const { lead, text } = block;
    return { ...block, lead: labelBefore(texts.from(sources[index]!), lead + text) + lead };
  });
}

/** The title of a passage's document, or its file name. */
function sourceOf({ title, document }: ReadPassage): string {
  return title === '' ? document : title;
}

/** The sentence that adds most to the blocks. */
function likeliest(
  rest: readonly RankedSentence[],
  blocks: readonly AnswerBlock[],
  elsewhere: number,
): RankedSentence {
  const quoted = new Set(blocks.map(({ passage }) => passage));
  const worthOf = ({ candidate, logit }: RankedSentence) =>
    logit + (quoted.has(candidate.sentence.passage) ? 0 : elsewhere);
  return rest.reduce((best, one) => (worthOf(one) > worthOf(best) ? one : best));
}

/** The passage and headings of a sentence; empty where the only heading is the document's title. */
function sectionOf({ heading, sentence }: Candidate): string {
  return heading.includes(' > ') ? `${sentence.passage} ${heading}` : '';
}
