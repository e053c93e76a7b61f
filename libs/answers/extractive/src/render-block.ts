import { fenced, tableOf } from '#answers/evidence';
import type { Sentence } from './sentence.js';

/** A text in Markdown, and where the answering sentence is in it. */
export interface Rendered {
  readonly text: string;
  readonly answer: { readonly start: number; readonly end: number };
}

/**
 * Joins sentences of a passage: paragraphs, items and code begin on new lines. `left`: the number of items that a list
 * has beyond the shown ones, which the text says.
 */
export function renderSentences(
  sentences: readonly Sentence[],
  { answer, left }: { answer: Sentence; left: number },
): Rendered {
  let text = '';
  let start = 0;
  let end = 0;
  const isList = sentences.some(({ kind, block }) => kind === 'item' && block !== sentences[0]!.block);
  for (const [index, sentence] of sentences.entries()) {
    const { kind, block } = sentence;
    const before = sentences[index - 1];
    text += before ? separator(before, sentence) : '';
    if (kind === 'item' && isList && before?.block !== block) text += '- ';
    if (sentence === answer) start = text.length;
    text += kind === 'code' ? fenced(sentence.text) : sentence.text;
    if (sentence === answer) end = text.length;
  }
  if (left > 0) text += `\n- and ${left} more`;
  return { text, answer: { start, end } };
}

function separator(before: Sentence, { kind, block }: Sentence): string {
  if (kind === 'code' || before.kind === 'code') return '\n';
  if (block === before.block) return ' ';
  return kind === 'item' ? '\n' : '\n\n';
}

/** Rows of a table as a table in Markdown; rows that are not pairs of names and values as lines. */
export function renderRows(rows: readonly string[]): Rendered {
  const text = tableOf(rows) ?? rows.join('\n');
  return { text, answer: { start: 0, end: text.length } };
}

/** A label before a text in Markdown. Lists, tables and code begin on a line of their own. */
export function labelBefore(label: string, text: string): string {
  if (text.startsWith('|')) return `${label}:\n\n`;
  return /^[-`]/.test(text) ? `${label}:\n` : `${label}: `;
}
