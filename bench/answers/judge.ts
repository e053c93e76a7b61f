import { escapePattern } from '#platform/foundation';
import type { Answer } from './ask.js';
import type { Question } from './questions.js';

/** What is judged about an answer. For dialogues it is the last turn. */
export interface Verdict {
  /** The complete expected fact is shown; unanswerable: it says that it found nothing; small talk: a short human reply. */
  right: boolean;
  /** Right, and the fact is in the first words; of a list, its beginning. */
  first: boolean;
  /** First, short, without a preface and without noise. */
  clean: boolean;
  /** Begins with a hedge, or says that it found nothing. */
  prefaced: boolean;
  /** Says that it found nothing. */
  refused: boolean;
  words: number;
}

const firstWords = 60;
const maxWords = 120;
const maxSmallTalkWords = 40;
/** The words in which the product speaks of what it did not find. */
const openingWords = 40;

const hedges =
  /^(?:i(?:'m| am) not (?:quite |entirely )?(?:sure|certain)|(?:the )?(?:closest|nearest) passages?|perhaps|possibly|maybe|ich bin (?:mir )?nicht (?:ganz )?sicher|am nächsten kommt|(?:die )?nächst(?:e|liegende|gelegene) (?:passende )?(?:stellen?|passagen?)|vielleicht|möglicherweise)(?![\p{L}])/u;
const missing = [
  /\bi (?:could not|couldn't|cannot|can't|did not|didn't|do not|don't) (?:find|know|have)\b/,
  /\b(?:no|not an?) answer\b.{0,40}\bdocuments\b/,
  /\bnot (?:mentioned|found|contained|in|part of|covered)\b.{0,15}\b(?:these|the|this|your|any) (?:documents?|collection|passages?)\b/,
  /\b(?:these|the|your|no) documents? (?:do not|don't|does not|doesn't|mentions?|say nothing|says nothing)\b/,
  /\bich (?:konnte|kann|habe)\b.{0,80}\b(?:nicht|keine?n?|nichts)\b/,
  /\b(?:wird|werden|kommt|steht|stehen)\b.{0,40}\bnicht\b.{0,40}\b(?:dokument|dokumente|dokumenten|sammlung)\b/,
  /\b(?:dokumente|dokumenten|sammlung)\b.{0,40}\b(?:nicht|nichts)\b/,
];
/** Rows as labels and values, e.g. `name: x; price: y`, and lines of CSV. */
const dumps = [
  /(?:^|\s)\p{L}[\p{L} ()]{0,30}: [^;\n]{1,80}; \p{L}[\p{L} ()]{0,30}: /u,
  /^(?:[^;\n]*;){4,}/m,
  /^[^,\n]+(?:,[^,\s][^,\n]*){5,}$/m,
];
const markup = [
  /\{\{|\}\}/,
  /\{#[\w-]+\}/,
  /<!--|<\/?[a-z]+\d?>/i,
  /^\s*>?\s*based on:/im,
  /^---$/m,
  /^title: /m,
];
const fence = /^\s*```/m;
const yesOrNo = new Set(['yes', 'no', 'ja', 'nein']);

/**
 * A text in lower case without marks of Markdown, numbers of citations, commas in thousands and hyphens within words, so that texts
 * can be compared.
 */
export function plain(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\[\d+\](?:\([^)]*\))?/g, ' ')
    .replaceAll(/[*`|]|^\s*[#>]+/gm, ' ')
    .replaceAll(/[’‘]/g, "'")
    .replaceAll(/[“”„"]/g, ' ')
    .replaceAll(/[−‑]/g, '-')
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '')
    .replaceAll(/(?<=\p{L})-(?=\p{L})/gu, ' ')
    .replaceAll(/\s+(?=[%°])/g, '')
    .replaceAll(/(?<=°)\s+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Whether a text contains another one, not as a part of a longer word or number. `Yes` and `no` count as the first word only. */
export function holds(text: string, expected: string): boolean {
  const [said, wanted] = [plain(text), plain(expected)];
  if (yesOrNo.has(wanted)) return new RegExp(String.raw`^${wanted}(?![\p{L}])`, 'u').test(said);
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?<!\d[.,])${escapePattern(wanted)}(?![\p{L}\p{N}])(?![.,]\d)`,
    'u',
  ).test(said);
}

/** The number of words of a text without numbers of citations. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/\[\d+\]/g, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** Whether an answer says in its first words that it did not find one. */
export function saysMissing(text: string): boolean {
  const opening = plain(text).split(' ').slice(0, openingWords).join(' ');
  return missing.some((pattern) => pattern.test(opening));
}

/** Judges the answer to a question. */
export function judge(question: Question, { text, citations }: Pick<Answer, 'text' | 'citations'>): Verdict {
  const words = wordsOf(text);
  const refused = saysMissing(text);
  const prefaced = refused || hedges.test(plain(text));
  const base = { prefaced, refused, words: words.length };
  if (question.type === 'unanswerable') return { ...base, right: refused, first: refused, clean: refused };
  if (question.type === 'small-talk') {
    const lists = /\(\d+ documents?\)|\[\d+\]/.test(text);
    const right =
      !prefaced && !lists && citations.length === 0 && words.length > 0 && words.length <= maxSmallTalkWords;
    return { ...base, right, first: right, clean: right };
  }
  const right = isRight(question, text, words.length);
  const first = right && begins(question, text);
  const noisy =
    [...dumps, ...markup].some((pattern) => pattern.test(text)) || (!question.code && fence.test(text));
  return { ...base, right, first, clean: first && !prefaced && !noisy && words.length <= maxWords };
}

function isRight(
  { answers, all, wrong, within, maxWords: most }: Question,
  text: string,
  length: number,
): boolean {
  const shown = within === undefined ? text : cut(text, within);
  const expected = answers.length === 0 || answers.some((answer) => holds(shown, answer));
  const complete = all.every((group) => group.some((answer) => holds(text, answer)));
  return (
    expected && complete && (most === undefined || length <= most) && !wrong.some((each) => holds(text, each))
  );
}

/** Whether the expected fact is in the first words. */
function begins({ answers, all }: Question, text: string): boolean {
  const opening = cut(text, firstWords);
  return [...answers, ...all.flat()].some((answer) => holds(opening, answer));
}

/** The first words of a text. */
function cut(text: string, count: number): string {
  return plain(text).split(' ').slice(0, count).join(' ');
}
