import { lowerCaseWords } from '#platform/foundation';

const asks = /[?？؟]["'”’»)\]}*_`]*$/u;
/** Share of common words from which on a sentence that asks repeats the question. */
const sharedWords = 0.7;
/** Limits for the words of the question: a shorter one occurs in sentences by chance, a longer one not in a command. */
const heldWords = { least: 3, most: 200 };
/** Three words in a row, which occur in prose but not in a command. */
const prose = /\p{L}+(?: \p{L}+){2}/u;
/** A label of an answer in data: `"answer": 8888`. */
const answerLabel = /(?<![\p{L}\p{N}])(?:a|answer|response|reply|result|solution)["'”]?\s*[:=]/iu;
/** The closing quote of a text in a command or a program. */
const closingQuote = /^\s*["'\x60”’»]/u;

/**
 * Returns a test for sentences that only repeat the question, which have all its words but no answer: sentences that
 * are (nearly) the question itself, such as a heading, and commands that contain it in quotes without prose or a
 * labeled answer after it. A row of a table has its answer after the question, even a short one.
 */
export function repeatsOf(question: string): (sentence: string) => boolean {
  const asked = lowerCaseWords(question);
  if (asked.length === 0) return () => false;
  const row = asked.join(' ');
  const mayBeHeld = asked.length >= heldWords.least && asked.length <= heldWords.most;
  // Most sentences lack a word of the question, and the pattern takes milliseconds to compile and to match.
  let held: RegExp | undefined;
  return (sentence) => {
    const inSmall = sentence.toLowerCase();
    const isQuestion = asks.test(sentence);
    if (!isQuestion && !asked.every((word) => inSmall.includes(word))) return false;
    const words = lowerCaseWords(sentence);
    const said = words.join(' ');
    if (said === row || (isQuestion && sharesWords(words, asked))) return true;
    if (!mayBeHeld || !said.includes(row)) return false;
    held ??= heldQuestion(asked, asks.test(question.trim()));
    const found = held.exec(sentence);
    return found ? !answers(sentence.slice(found.index + found[0].length), found[0]) : false;
  };
}

/** Whether the text after a question may answer it. */
function answers(behind: string, question: string): boolean {
  if (prose.test(behind) || answerLabel.test(behind)) return true;
  const isClosed = closingQuote.test(behind) || closingQuote.test(question.slice(-1));
  return !isClosed && /[\p{L}\p{N}]/u.test(behind);
}

function sharesWords(words: readonly string[], asked: readonly string[]): boolean {
  const distinct = new Set(words);
  const shared = [...distinct].filter((word) => asked.includes(word));
  return shared.length > 0 && shared.length >= sharedWords * distinct.size;
}

/** Matches the question word by word with its question mark; a `marked` question also between quotation marks. */
function heldQuestion(asked: readonly string[], marked: boolean): RegExp {
  const words = String.raw`(?<![\p{L}\p{N}])${asked.join(String.raw`[^\p{L}\p{N}]+`)}`;
  const quoted = String.raw`|(?<=["'\x60“‘«])${words}["'\x60”’»]`;
  return new RegExp(String.raw`${words}[?？؟]${marked ? quoted : ''}`, 'iu');
}
