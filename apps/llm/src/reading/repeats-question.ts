import { contentWords } from '../grounding/sentences.js';

const asks = /[?？؟]["'”’»)\]}*_`]*$/u;
/** A sentence that asks, with so many of its words from the question, asks the same. */
const sharedWords = 0.7;
/** A question of fewer words stands in many a sentence by chance; one of more stands in no command. */
const heldWords = { least: 3, most: 200 };
/** Words in a row, as prose has them and a command has not. */
const prose = /\p{L}+(?: \p{L}+){2}/u;
/** A name that data give to what answers: `"answer": 8888`. */
const answerLabel = /(?<![\p{L}\p{N}])(?:a|answer|response|reply|result|solution)["'”]?\s*[:=]/iu;
/** What closes a text that a command or a program holds. */
const closingQuote = /^\s*["'\x60”’»]/u;

/**
 * Tells the sentences that only repeat the question, and so have all of its words and no answer: those that are (nearly)
 * the question themselves, as a heading may be, and those that hold it as a command does that asks it: with the end of a
 * text in quotes behind it, and neither prose nor anything that is called an answer. A row of a table has its answer behind
 * the question, however short.
 */
export function repeatsOf(question: string): (sentence: string) => boolean {
  const asked = contentWords(question);
  if (asked.length === 0) return () => false;
  const row = asked.join(' ');
  const mayBeHeld = asked.length >= heldWords.least && asked.length <= heldWords.most;
  // Most sentences lack a word of the question; the pattern takes milliseconds to make and to search.
  let held: RegExp | undefined;
  return (sentence) => {
    const inSmall = sentence.toLowerCase();
    const isQuestion = asks.test(sentence);
    if (!isQuestion && !asked.every((word) => inSmall.includes(word))) return false;
    const words = contentWords(sentence);
    const said = words.join(' ');
    if (said === row || (isQuestion && sharesWords(words, asked))) return true;
    if (!mayBeHeld || !said.includes(row)) return false;
    held ??= heldQuestion(asked, asks.test(question.trim()));
    const found = held.exec(sentence);
    return found ? !answers(sentence.slice(found.index + found[0].length), found[0]) : false;
  };
}

/** Whether what stands behind a question may answer it. */
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

/** The question word by word with its mark behind it; one that has a mark of its own also between quotation marks. */
function heldQuestion(asked: readonly string[], marked: boolean): RegExp {
  const words = String.raw`(?<![\p{L}\p{N}])${asked.join(String.raw`[^\p{L}\p{N}]+`)}`;
  const quoted = String.raw`|(?<=["'\x60“‘«])${words}["'\x60”’»]`;
  return new RegExp(String.raw`${words}[?？؟]${marked ? quoted : ''}`, 'iu');
}
