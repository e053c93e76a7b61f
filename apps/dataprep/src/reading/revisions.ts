/** Why a text is not simply part of a document. */
export type Revision = 'struck' | 'deleted' | 'inserted' | 'hidden';

const marks: Readonly<Record<Revision, readonly [before: string, after: string]>> = {
  struck: ['~~', '~~'],
  deleted: ['{--', '--}'],
  inserted: ['{++', '++}'],
  hidden: ['[hidden: ', ']'],
};

/**
 * The one rule of all formats: struck-out, deleted and hidden text is left out, and inserted text stays as it is. With
 * `keeps` all of it stays, with marks. The words on both sides never become one word.
 */
export function revisedText(text: string, revision: Revision, keeps = false): string {
  if (text.trim() === '') return text === '' ? '' : ' ';
  if (keeps) return ` ${marks[revision].join(text.trim())} `;
  if (revision === 'inserted') return text;
  // A corrected letter is within a word. Of a tracked deletion the neighbors are the text as it is meant.
  return revision === 'deleted' || text.trim().length === 1 ? '' : ' ';
}
