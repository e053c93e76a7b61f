/** Words for a part of a document or a release with its number, and the number. */
const part =
  /(?<![\p{L}\p{N}])(section|article|chapter|clause|part|paragraph|annex|appendix|schedule|step|version|release|item|abschnitt|artikel|kapitel|absatz|teil|anlage|anhang|§)\s*(\d+(?:\.\d+)*)(?![\p{N}]|\.\d)/giu;

/** A number that only versions have: `3.3.0`, `v2.1`. */
const versionNumber =
  /(?<![\p{L}\p{N}.])(?:v(?=\d))?((?<=v)\d+(?:\.\d+)+|\d{1,3}\.\d{1,3}\.\d{1,3})(?![\p{L}\p{N}]|\.\d)/giu;

/**
 * Returns a test for headings with the number of a part that a question names: `Section 6. Water` and `6. Water` for
 * `What does section 6 say?`, `4.2.0 (2026-05-11)` for `version 4.2.0`. Undefined where it names none.
 */
export function namedPart(question: string): ((headings: readonly string[]) => boolean) | undefined {
  const named = [...question.matchAll(part)].map(([, word = '', number = '']) => ({
    word: word.toLowerCase(),
    number,
  }));
  const versions = [...question.matchAll(versionNumber)].map(([, number = '']) => ({
    word: 'version',
    number,
  }));
  const parts = named.length > 0 ? named : versions;
  if (parts.length === 0) return undefined;
  const isPart = (heading: string) =>
    parts.some(({ word, number }) => {
      const own = [...heading.matchAll(part)].map((found) => ({
        word: found[1]!.toLowerCase(),
        number: found[2],
      }));
      // A heading with a word of its own, such as `Step 6`, is not section 6.
      if (own.length > 0) return own.some((one) => one.word === word && one.number === number);
      return /^v?\d+(?:\.\d+)*(?![\p{L}\p{N}])/iu.exec(heading)?.[0].replace(/^v/i, '') === number;
    });
  return (headings) => headings.some(isPart);
}
