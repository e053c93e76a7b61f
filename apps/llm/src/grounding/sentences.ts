import { normaliseWhitespace } from './words.js';

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Blank lines, and lines that begin a list item, a heading or a table row, end a sentence without a full stop. */
const structuralBreak = /\n\s*\n|\n(?=\s*(?:[-*•+|#>]|\d+[.)])\s*\S)/;

/** Ends that are no end of a sentence: abbreviations, initials, list numbers. */
const openEnd =
  /(?:^|[\s("'“])(?:\p{Lu}|\d{1,3}|e\.g|i\.e|cf|vs|approx|Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Nos?|Figs?|Eqs?|Sec|Ch|Vol|Gen|Col|Lt|Sgt|Rev|Gov|Sen|Rep|Hon|Mt|Ft|U\.S|U\.K|U\.N|a\.m|p\.m)\.$/u;

/** The sentences of a text, whitespace normalised; joined by single spaces they are the normalised text. */
export function splitSentences(text: string): string[] {
  return text.split(structuralBreak).flatMap((block) => blockSentences(normaliseWhitespace(block)));
}

function blockSentences(block: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const { segment } of segmenter.segment(block)) {
    open += segment;
    if (!open.endsWith(' ') || openEnd.test(open.trimEnd())) continue;
    sentences.push(open.trimEnd());
    open = '';
  }
  return open === '' ? sentences : [...sentences, open];
}
