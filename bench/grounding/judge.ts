import { escapePattern } from '#platform/foundation';

/** Words of a text without punctuation and articles, for the judgement of answers about prose. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} ]+/gu, ' ')
    .split(/\s+/)
    .filter((word) => !['', 'a', 'an', 'the'].includes(word))
    .join(' ');
}

/** Whether an answer from prose contains one of the expected texts; punctuation, case and articles are ignored. */
export function holdsWords(text: string, answers: readonly string[]): boolean {
  const said = wordsOf(text);
  return answers.map(wordsOf).some((answer) => answer !== '' && said.includes(answer));
}

/**
 * Whether an answer from technical text contains one of the expected texts literally, not as a part of a longer name.
 */
export function holdsLiterally(text: string, answers: readonly string[]): boolean {
  const plain = (string: string) => string.replaceAll(/\s+/g, ' ').toLowerCase();
  const said = plain(text);
  return answers.some((answer) => {
    const escaped = escapePattern(plain(answer));
    return new RegExp(String.raw`(?<![\p{L}\p{N}_-])${escaped}(?![\p{L}\p{N}_-])`, 'u').test(said);
  });
}
