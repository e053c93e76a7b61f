import { asksForWay } from './evidence.js';
import type { Candidate, ReadPassage, Sentence } from './sentence.js';

/** A quote in the answer. */
export interface Quote {
  /** The heading, where the quote itself does not name its subject. */
  readonly lead: string;
  /** Text of the passage in the format of its kind: list items with bullets, code between fences. */
  readonly text: string;
  readonly passage: number;
  readonly documentId: string;
}

/** Beginnings of sentences that refer to earlier text. */
const refersBack =
  /^(?:(?:and|but|so|however|thus|then),? )?(?:it|its|he|she|they|him|his|her|hers|their|this|these|that|those|both|such|the (?:former|latter|same))\b/i;
/** Limit for the sentences before the quoted one that are shown because it refers to them. */
const mostBefore = 2;
/** Limit for the sentences about a term before the quoted one; the first of them defines the term. */
const mostOfTerm = 3;
/** Limit for the words of a quote with the rest of its paragraph, in documents with an outline. */
const mostWords = 60;
/** Limit for the items after the sentence that announces them. */
const mostItems = 8;

/**
 * Extends a sentence so that it can be understood alone: after the sentence that it refers to, or after its heading; an
 * item after the sentence that announces its list; code completely and between fences, with the sentence that announces
 * it; an announcing sentence with the announced items or code. In documents with an outline the rest of the paragraph
 * follows where the question asks for a way or the answer is unsure.
 */
export function quoteOf(
  { sentence, heading, lead: subject, term }: Candidate,
  { sentences, headings }: ReadPassage,
  { question, isUnsure = false }: { question: string; isUnsure?: boolean },
): Quote {
  const { passage, documentId } = sentence;
  const whole = (before: string, first: number, last: number) => {
    const [from, to] =
      headings.length > 1 && (isUnsure || asksForWay(question))
        ? withRest(sentences, first, last)
        : [first, last];
    const text = render(sentences.slice(from, to));
    return { lead: leadBefore(before, text), text, passage, documentId };
  };
  const at = sentence.index;
  if (sentence.kind === 'item') {
    const intro = introductionOf(sentences, at);
    const items = [...(intro ? [intro] : []), sentence, ...restOf(sentences, at)];
    const text = render(items);
    return { lead: leadBefore(subject, text), text, passage, documentId };
  }
  if (sentence.kind === 'code') return whole(subject, announces(sentences[at - 1]) ? at - 1 : at, at + 1);
  const end = announces(sentence) ? endOfAnnounced(sentences, at) : at + 1;
  if (term !== '' && at <= mostOfTerm) return whole(sentences[0]!.text.includes(term) ? '' : term, 0, end);
  const start = startOf(sentences, at);
  const unclear = start === 0 && refersBack.test(sentences[0]!.text);
  return whole(subject === '' && unclear ? (heading.split(' > ').at(-1) ?? '') : subject, start, end);
}

/** The heading before a quote. Code begins on a new line. */
function leadBefore(heading: string, text: string): string {
  if (heading === '') return '';
  return text.startsWith('`') ? `${heading}:\n` : `${heading}: `;
}

/** Quotes items of one list after the sentence that announces them, and rows one below the other. */
export function quoteOfSeveral(chosen: readonly Sentence[], { sentences }: ReadPassage): Quote {
  const [first] = chosen;
  const intro = first!.kind === 'item' ? introductionOf(sentences, first!.index) : undefined;
  const { passage, documentId } = first!;
  const lines = [...(intro ? [intro] : []), ...chosen];
  return { lead: '', text: render(lines, true), passage, documentId };
}

/**
 * The borders of a quote with the rest of its paragraph and the text that it announces, within the limit of words. A
 * paragraph about a way often explains the method in one sentence and the place in the next.
 */
function withRest(sentences: readonly Sentence[], first: number, last: number): [number, number] {
  let [from, to] = [first, last];
  const fits = () => wordsOf(sentences.slice(from, to)) <= mostWords;
  const { block } = sentences[to - 1]!;
  while (to < sentences.length && (sentences[to]!.block === block || announces(sentences[to - 1]))) {
    to += 1;
    if (fits()) continue;
    to -= 1;
    break;
  }
  while (from > 0 && sentences[from - 1]!.block === sentences[from]!.block) {
    from -= 1;
    if (fits()) continue;
    from += 1;
    break;
  }
  return [from, to];
}

function wordsOf(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
}

/** Goes back over sentences that refer to the one before them. */
function startOf(sentences: readonly Sentence[], at: number): number {
  let start = at;
  while (start > Math.max(0, at - mostBefore) && refersBack.test(sentences[start]!.text)) {
    if (!['paragraph', 'item'].includes(sentences[start - 1]!.kind) || announces(sentences[start - 1])) break;
    start -= 1;
  }
  return start;
}

/** The sentence that an item announces. */
function restOf(sentences: readonly Sentence[], at: number): Sentence[] {
  return announces(sentences[at]) ? sentences.slice(at + 1, at + 2) : [];
}

function announces(sentence: Sentence | undefined): boolean {
  return sentence !== undefined && sentence.kind !== 'code' && /[:,]\s*$/.test(sentence.text);
}

/** The sentence before a list that announces it. */
function introductionOf(sentences: readonly Sentence[], at: number): Sentence | undefined {
  const before = sentences.slice(0, at).findLast(({ kind }) => kind !== 'item');
  return announces(before) ? before : undefined;
}

function endOfAnnounced(sentences: readonly Sentence[], at: number): number {
  const next = sentences[at + 1];
  if (!next) return at + 1;
  if (next.kind !== 'item') return at + 2;
  const beyond = sentences.findIndex(({ kind }, index) => index > at && kind !== 'item');
  return Math.min(beyond === -1 ? sentences.length : beyond, at + 1 + mostItems);
}

/** Joins the sentences of a block. Items and code begin on new lines. */
function render(sentences: readonly Sentence[], onLines = false): string {
  let text = '';
  let before: Sentence | undefined;
  for (const sentence of sentences) {
    const { kind, block } = sentence;
    const isNewItem = kind === 'item' && !(before?.kind === 'item' && before.block === block);
    if (before) text += kind === 'code' || before.kind === 'code' || isNewItem || onLines ? '\n' : ' ';
    if (kind === 'code') text += fenced(sentence.text);
    else
      text +=
        (isNewItem && before) || (onLines && sentences.length > 1 && kind !== 'paragraph')
          ? `- ${sentence.text}`
          : sentence.text;
    before = sentence;
  }
  return text;
}

/** Puts code between fences that are longer than any run of backticks in it. */
function fenced(code: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code}\n${fence}`;
}
