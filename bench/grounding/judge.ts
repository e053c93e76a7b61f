/** Words of a text without marks and articles, as questions about prose are judged. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} ]+/gu, ' ')
    .split(/\s+/)
    .filter((word) => !['', 'a', 'an', 'the'].includes(word))
    .join(' ');
}

/** Whether an answer from prose holds one of the expected texts; marks, case and articles do not count. */
export function holdsWords(text: string, answers: readonly string[]): boolean {
  const said = wordsOf(text);
  return answers.map(wordsOf).some((answer) => answer !== '' && said.includes(answer));
}

/** Whether an answer from technical text holds one of the expected texts to the letter, not as a part of a longer name. */
export function holdsLiterally(text: string, answers: readonly string[]): boolean {
  const plain = (string: string) => string.replaceAll(/\s+/g, ' ').toLowerCase();
  const said = plain(text);
  return answers.some((answer) => {
    const escaped = plain(answer).replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
    return new RegExp(String.raw`(?<![\p{L}\p{N}_-])${escaped}(?![\p{L}\p{N}_-])`, 'u').test(said);
  });
}
