import { asksForCode } from '#answers/evidence';
import { asksOverRows } from './question/question-type.js';
import { labelBefore, renderRows, renderSentences, type Rendered } from './render-block.js';
import { isLabel, lastHeading, type Candidate, type ReadPassage, type Sentence } from './sentence.js';

/** What an answer shows of a passage: the paragraph, the list or the rows around the answering sentence. */
export interface AnswerBlock extends Rendered {
  /** The heading, where the block itself does not name its subject. */
  readonly lead: string;
  /** The answering sentence in the words of the passage. */
  readonly quote: string;
  readonly passage: number;
  readonly documentId: string;
}

/** Beginnings of sentences that refer to earlier text. */
const refersBack =
  /^(?:(?:and|but|so|however|thus|then),? )?(?:it|its|he|she|they|him|his|her|hers|their|this|these|that|those|both|such|the (?:former|latter|same))\b/i;
/** Limit for the words of a block. */
const maxWords = 100;
/** Limit for the words before the answering sentence, so that the answer comes early. */
const maxWordsBefore = 35;
/** The same for a list before it, in a section that is shown whole. */
const maxWordsOfList = 60;
/** Limit for the sentences before the answering one that are shown only because it refers to them. */
const maxSentencesBefore = 2;
/** Limit for the sentences about a term before the answering one; the first of them defines the term. */
const maxOfTerm = 3;

/**
 * The block around an answering sentence: the sentences before and after it in its section, as far as the limits of
 * words allow; an item with its whole list and the sentence that announces it; a row as a table; code with the sentence
 * that announces it. Code is only shown for questions that ask for it.
 */
export function blockOf(
  { sentence: found, label, lead: subject, term }: Candidate,
  { section: sentences }: ReadPassage,
  question: string,
): AnswerBlock {
  const { passage, documentId, text: quote } = found;
  const at = placeIn(sentences, found);
  const sentence = sentences[at]!;
  const allowsCode = sentence.kind === 'code' || asksForCode(question);
  const show = (rendered: Rendered, lead: string): AnswerBlock => ({
    ...rendered,
    lead: leadBefore(lead, rendered.text),
    quote,
    passage,
    documentId,
  });
  if (sentence.kind === 'row') return show(renderRows(rowsFor(question, at, sentences)), '');
  if (sentence.kind === 'item') {
    const { shown, left } = listAround(sentences, at, allowsCode);
    const isIntroduced = shown[0]!.kind !== 'item';
    return show(renderSentences(shown, { answer: sentence, left }), isIntroduced ? subject : label);
  }
  if (isShortWithList(sentences, allowsCode) && wordsOf(sentences.slice(0, at)) <= maxWordsOfList)
    return show(renderSentences(sentences, { answer: sentence, left: 0 }), label);
  const isDefined = term !== '' && at <= maxOfTerm;
  const first = isDefined ? 0 : startOf(sentences, at);
  const last = endOf(sentences, { first, at, allowsCode });
  const { end, left } = withoutTornList(sentences, at, last);
  const rendered = renderSentences(sentences.slice(first, end), { answer: sentence, left });
  if (isDefined) return show(rendered, sentences[0]!.text.includes(term) ? '' : term);
  const isUnclear = first === 0 && refersBack.test(sentences[0]!.text);
  return show(rendered, subject === '' && isUnclear ? label : subject);
}

/** Whether a section has a list, and fits into a block: a sentence after the steps of a list says little without them. */
function isShortWithList(sentences: readonly Sentence[], allowsCode: boolean): boolean {
  const isShown = ({ kind }: Sentence) =>
    kind === 'paragraph' || kind === 'item' || (kind === 'code' && allowsCode);
  return (
    sentences.some(({ kind }) => kind === 'item') &&
    sentences.every(isShown) &&
    wordsOf(sentences) <= maxWords &&
    !announces(sentences.at(-1))
  );
}

/** The rows that answer a question for several things, as one table, or several items of one list. */
export function blockOfSeveral(found: readonly Sentence[], { section: sentences }: ReadPassage): AnswerBlock {
  const chosen = found.map((sentence) => sentences[placeIn(sentences, sentence)]!);
  const [first] = chosen;
  const { passage, documentId, text: quote } = first!;
  const intro = first!.kind === 'item' ? introductionOf(sentences, placeIn(sentences, first!)) : undefined;
  const rendered =
    first!.kind === 'row'
      ? renderRows(rowsOf(chosen, sentences))
      : renderSentences([...(intro ? [intro] : []), ...chosen], { answer: first!, left: 0 });
  return { ...rendered, lead: '', quote, passage, documentId };
}

/** The place of a sentence in its section, where its block may have another number. */
function placeIn(section: readonly Sentence[], { documentId, index }: Sentence): number {
  return section.findIndex((other) => other.documentId === documentId && other.index === index);
}

/** A heading before a block, without its number; not a question. */
function leadBefore(heading: string, text: string): string {
  const plain = lastHeading(heading);
  if (/^$|[?!]$/.test(plain) || text.toLowerCase().startsWith(plain.toLowerCase())) return '';
  return labelBefore(plain, text);
}

/** The row that answers; all rows of its passage for a question over rows. */
function rowsFor(question: string, at: number, sentences: readonly Sentence[]): string[] {
  if (!asksOverRows(question)) return rowsOf([sentences[at]!], sentences);
  const { documentId: own } = sentences[at]!;
  const isOther = ({ kind, documentId }: Sentence) => kind !== 'row' || documentId !== own;
  const start = sentences.slice(0, at).findLastIndex(isOther) + 1;
  const beyond = sentences.findIndex((other, index) => index > at && isOther(other));
  return rowsOf(sentences.slice(start, beyond === -1 ? undefined : beyond), sentences);
}

/** The whole rows of some sentences, each once: a row may have several sentences. */
function rowsOf(chosen: readonly Sentence[], sentences: readonly Sentence[]): string[] {
  const blocks = [...new Set(chosen.map(({ block }) => block))];
  const textsOf = (block: number) =>
    sentences.filter((other) => other.block === block).map(({ text }) => text);
  return blocks.map((block) => textsOf(block).join(' '));
}

/** Goes back over sentences of the passage that explain the answering one, and over those that it refers to. */
function startOf(sentences: readonly Sentence[], at: number): number {
  let start = at;
  const isPart = (index: number) =>
    sentences[index]?.kind === 'paragraph' &&
    !isLabel(sentences[index]) &&
    !(announces(sentences[index]) && index + 1 < start);
  if (sentences[at]!.kind === 'code') return announces(sentences[at - 1]) ? at - 1 : at;
  const isOwn = (index: number) => sentences[index]?.documentId === sentences[at]!.documentId;
  const isNear = (index: number) => wordsOf(sentences.slice(index, at)) <= maxWordsBefore;
  while (isPart(start - 1) && isOwn(start - 1) && isNear(start - 1)) start -= 1;
  while (isPart(start - 1) && start > at - maxSentencesBefore && refersBack.test(sentences[start]!.text))
    start -= 1;
  return start;
}

/** Goes on after the answering sentence, within the limit of words. */
function endOf(
  sentences: readonly Sentence[],
  { first, at, allowsCode }: { first: number; at: number; allowsCode: boolean },
): number {
  let end = at + 1;
  const isPart = ({ kind }: Sentence) =>
    kind === 'paragraph' ||
    kind === 'item' ||
    (kind === 'code' && allowsCode && announces(sentences[end - 1]));
  // A heading without a mark begins another section.
  const isBorder = (index: number) =>
    isLabel(sentences[index]!) && sentences[index + 1]?.kind === 'paragraph';
  while (end < sentences.length && isPart(sentences[end]!) && !isBorder(end)) {
    if (wordsOf(sentences.slice(first, end + 1)) > maxWords) break;
    end += 1;
  }
  return end;
}

/**
 * Ends a block before a list of which only a part fits, unless the answering sentence announces the list; and before a
 * heading or a sentence that announces what does not follow.
 */
function withoutTornList(
  sentences: readonly Sentence[],
  at: number,
  last: number,
): { end: number; left: number } {
  let end = last;
  let left = 0;
  if (sentences[end]?.kind === 'item') {
    const start = sentences.slice(0, end).findLastIndex(({ kind }) => kind !== 'item') + 1;
    end = wholeItems(sentences, end);
    if (start > at + 1 || end <= start) end = Math.max(at + 1, start);
    else left = countItems(sentences, end);
  }
  const isOpen = () => announces(sentences[end - 1]) || isLabel(sentences[end - 1]!);
  while (end > at + 1 && isOpen()) end -= 1;
  return { end, left };
}

/** The list around an item, after the sentence that announces it: whole, or as much as fits with the answering item. */
function listAround(
  sentences: readonly Sentence[],
  at: number,
  allowsCode: boolean,
): { shown: Sentence[]; left: number } {
  const start = sentences.slice(0, at).findLastIndex(({ kind }) => kind !== 'item') + 1;
  const intro = introductionOf(sentences, at);
  const room = maxWords - (intro ? wordsOf([intro]) : 0);
  const answer = sentences[at]!;
  let first = start;
  // A later item of a long list: the list begins with it.
  const untilAnswer = sentences.slice(start, at + 1);
  if (wordsOf(untilAnswer) > room * 0.6) first = sentences.findIndex(({ block }) => block === answer.block);
  let end = at + 1;
  while (sentences[end]?.kind === 'item' && wordsOf(sentences.slice(first, end + 1)) <= room) end += 1;
  if (sentences[end]?.kind === 'item') end = Math.max(at + 1, wholeItems(sentences, end));
  // Code or a sentence that the last item announces belongs to it.
  const next = sentences[end];
  if (
    announces(sentences[end - 1]) &&
    next &&
    (next.kind === 'paragraph' || (next.kind === 'code' && allowsCode))
  )
    end += 1;
  return {
    shown: [...(intro ? [intro] : []), ...sentences.slice(first, end)],
    left: countItems(sentences, end),
  };
}

/** The end of the last whole item before `end`. An item may have several sentences. */
function wholeItems(sentences: readonly Sentence[], end: number): number {
  let whole = end;
  while (whole > 0 && sentences[whole] && sentences[whole - 1]!.block === sentences[whole]!.block) whole -= 1;
  return whole;
}

/** The items of a list from `from` on. */
function countItems(sentences: readonly Sentence[], from: number): number {
  const blocks = new Set<number>();
  for (let index = from; sentences[index]?.kind === 'item'; index += 1) blocks.add(sentences[index]!.block);
  return blocks.size;
}

function wordsOf(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
}

function announces(sentence: Sentence | undefined): boolean {
  return sentence !== undefined && sentence.kind !== 'code' && /[:,]\s*$/.test(sentence.text);
}

/** The sentence before a list that announces it. */
function introductionOf(sentences: readonly Sentence[], at: number): Sentence | undefined {
  const before = sentences.slice(0, at).findLast(({ kind }) => kind !== 'item');
  return announces(before) ? before : undefined;
}
