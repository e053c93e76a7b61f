import type { AnswerForm } from '#answers/questions';
import type { AnswerBlock } from './answer-block.js';

/** The blocks of an answer in the form that the question asks for. */
export interface FormedAnswer {
  readonly blocks: readonly AnswerBlock[];
  /** Says that the form is not possible with quotes; empty where it is. */
  readonly declined: string;
}

const values: Partial<Record<AnswerForm, RegExp>> = {
  number: /(?<![\p{L}\d])[-+]?\d+(?:[.,:]\d+)*(?:\s?%)?(?![\p{L}\d])/gu,
  date: /\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}(?:st|nd|rd|th|\.)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)\p{L}*(?:,? \d{4})?|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}* \d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4})?/giu,
};

const wordings: Readonly<Record<AnswerForm, string>> = {
  number: 'a single number',
  date: 'a date alone',
  word: 'one word',
  'yes-no': 'yes or no',
  sentence: 'one sentence',
  list: 'a list',
  'numbered-list': 'a numbered list',
  table: 'a table',
};

/**
 * Gives an answer of quotes the form that the question asks for: one sentence, the only number or date of the answering
 * sentence, a list, a table. What quotes cannot be, such as one word, is said, and the sentence is shown.
 */
export function applyForm(form: AnswerForm, question: string, blocks: readonly AnswerBlock[]): FormedAnswer {
  const [first] = blocks;
  if (!first) return { blocks, declined: '' };
  const declined = `I quote the documents, and cannot answer with ${wordings[form]}:`;
  switch (form) {
    case 'sentence':
      return done(withText(first, first.quote));
    case 'number':
    case 'date': {
      const found = [...new Set(first.quote.match(values[form]!) ?? [])].filter(
        (value) => !question.includes(value),
      );
      return found.length === 1
        ? done(withText(first, found[0]!))
        : { blocks: [withText(first, first.quote)], declined };
    }
    case 'list':
    case 'numbered-list': {
      const isList = /^- /m.test(first.text);
      if (isList) return done(form === 'list' ? first : numbered(first));
      return { blocks, declined };
    }
    case 'table':
      return first.text.startsWith('|') ? done(first) : { blocks, declined };
    default:
      return { blocks: [withText(first, first.quote)], declined };
  }
}

function done(block: AnswerBlock): FormedAnswer {
  return { blocks: [block], declined: '' };
}

/** A block with a shorter text, which is its answer. */
function withText(block: AnswerBlock, text: string): AnswerBlock {
  return { ...block, lead: '', text, answer: { start: 0, end: text.length } };
}

function numbered(block: AnswerBlock): AnswerBlock {
  let count = 0;
  const text = block.text.replaceAll(/^- /gm, () => `${(count += 1)}. `);
  // The answering sentence moves by the length of the numbers before it.
  const start = text.indexOf(block.quote);
  const answer = start === -1 ? { start: 0, end: text.length } : { start, end: start + block.quote.length };
  return { ...block, text, answer };
}
