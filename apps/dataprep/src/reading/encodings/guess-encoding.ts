import { decoderOf } from './encodings.js';
import { letterValues, singleByteEncodings } from './languages.js';

/** An encoding that the bytes of a text probably have. */
export interface EncodingGuess {
  encoding: string;
  /** From 0 to 1. */
  confidence: number;
}

/** Bytes outside of ASCII that are enough for a guess. */
const maxHighBytes = 20_000;
/** Bytes of ASCII on both sides of the others, which show the words. */
const margin = 8;
/** A score below this is as good as chance. */
const minScore = 0.3;

/** What a place further down in the list of encodings takes from the score. */
const rarity = 0.004;

const multiByteEncodings = ['gb18030', 'shift_jis', 'euc-kr', 'big5', 'euc-jp'] as const;

/** Guesses the encoding of a text that is not UTF-8, by the statistics of its letters in many languages. */
export function guessEncoding(bytes: Uint8Array): EncodingGuess {
  const sample = sampleOf(bytes);
  const scores = [
    ...singleByteEncodings.map(([encoding, languages], rank) => ({
      encoding,
      score: singleByteScore(decoderOf(encoding).decode(sample), languages) - rank * rarity,
    })),
    ...multiByteEncodings.map((encoding) => ({ encoding, score: multiByteScore(sample, encoding) })),
  ];
  const best = scores.reduce((one, other) => (other.score > one.score + 1e-9 ? other : one));
  if (best.score < minScore) return { encoding: 'windows-1252', confidence: 0.1 };
  const text = decoderOf(best.encoding).decode(sample);
  const rivals = scores.filter(
    ({ encoding, score }) => score > minScore && decoderOf(encoding).decode(sample) !== text,
  );
  const second = Math.max(0, ...rivals.map(({ score }) => score));
  const highBytes = sample.reduce((sum, byte) => sum + (byte > 127 ? 1 : 0), 0);
  // Few letters prove little, even if they fit.
  const evidence = highBytes / (highBytes + 6);
  const lead = Math.min(1, (best.score - second) / 0.4);
  return { encoding: best.encoding, confidence: Math.round(100 * evidence * (0.5 + 0.5 * lead)) / 100 };
}

/** The parts of a text with bytes outside of ASCII, from the whole text. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let high = 0;
  let end = 0;
  for (let at = 0; at < bytes.length && high < maxHighBytes; at += 1) {
    if (bytes[at]! < 128) continue;
    high += 1;
    const from = Math.max(end, at - margin);
    if (at < end) continue;
    let to = at + 1;
    let quiet = 0;
    while (to < bytes.length && quiet < margin) quiet = bytes[to++]! < 128 ? quiet + 1 : 0;
    parts.push(bytes.subarray(from, to));
    end = to;
  }
  return Buffer.concat(parts);
}

/** Marks that texts of all languages use. */
const usualMark = /[\s„“”‚‘’‹›«»–—…€£§°©®·•¿¡ºª×÷½¼¾²³µ№،؛؟״׳־]/u;
const letter = /[\p{L}\p{M}]/u;
const capital = /\p{Lu}/u;
const small = /\p{Ll}/u;
const latinLetter = /[a-z]/i;
const isOtherScript = (character: string) => character > '\u0370' && character < '\u1e00';

/** The mean value of the characters outside of ASCII, as text of the language that fits best. */
function singleByteScore(text: string, languages: readonly string[]): number {
  const scores = languages.map((language) => ({ values: letterValues.get(language)!, sum: 0 }));
  const characters = Array.from(text);
  let count = 0;
  let shared = 0;
  characters.forEach((character, at) => {
    if (character < '\u0080') return;
    count += 1;
    const before = characters[at - 1] ?? ' ';
    const isLetter = letter.test(character);
    if (!isLetter) {
      const isWithin = letter.test(before) && letter.test(characters[at + 1] ?? ' ');
      shared += usualMark.test(character) && !(isWithin && character !== '’') ? 0.2 : -3;
      return;
    }
    // A capital letter within a word of small ones is a sign of another encoding.
    if (capital.test(character) && small.test(before)) shared -= 2;
    // Words of Latin letters contain no letters of other scripts.
    if (isOtherScript(character) && (latinLetter.test(before) || latinLetter.test(characters[at + 1] ?? ' ')))
      shared -= 3;
    const lower = character === 'İ' ? 'ı' : character.toLowerCase();
    // Hardly a text consists of capital letters.
    const share = lower === character ? 1 : 0.8;
    for (const score of scores) score.sum += share * (score.values.get(lower) ?? -2);
  });
  const best = Math.max(...scores.map(({ sum }) => sum));
  return count === 0 ? 0 : (best + shared) / count;
}

const isAsciiLetter = (byte = 0) => (byte | 32) >= 0x61 && (byte | 32) <= 0x7a;

type MultiByte = (typeof multiByteEncodings)[number];

/** Ranges of first bytes: of the usual characters, of kana or other marks of the language, and of rare characters. */
const usualBytes: Readonly<Record<MultiByte, (lead: number, trail: number) => number>> = {
  gb18030: (lead, trail) =>
    lead === 0xa3 || lead === 0xa1
      ? 1
      : trail < 0xa1
        ? -1.5
        : lead >= 0xb0 && lead <= 0xd7
          ? 1.05
          : lead >= 0xd8 && lead <= 0xf7
            ? 0.1
            : -1.5,
  big5: (lead) =>
    lead === 0xa1 ? 1 : lead >= 0xa4 && lead <= 0xc6 ? 1.05 : lead >= 0xc9 && lead <= 0xf9 ? -0.8 : -1.5,
  'euc-kr': (lead, trail) =>
    lead === 0xa1 || lead === 0xa3 ? 0.8 : trail < 0xa1 ? -1 : lead >= 0xb0 && lead <= 0xc8 ? 1.15 : -1.2,
  'euc-jp': (lead) =>
    lead === 0xa4 || lead === 0xa5
      ? 1.4
      : lead === 0xa1
        ? 1
        : lead >= 0xb0 && lead <= 0xcf
          ? 1
          : lead >= 0xd0 && lead <= 0xf4
            ? -0.3
            : -1.5,
  shift_jis: (lead) =>
    lead === 0x82 || lead === 0x83
      ? 1.4
      : lead === 0x81
        ? 1
        : lead >= 0x88 && lead <= 0x97
          ? 1.05
          : lead >= 0x98 && lead <= 0x9f
            ? -0.3
            : lead >= 0xe0 && lead <= 0xea
              ? -0.3
              : -1.5,
};

/** The mean value of the characters of two bytes; of bytes that are not valid, their number counts against it. */
function multiByteScore(bytes: Uint8Array, encoding: MultiByte): number {
  const value = usualBytes[encoding];
  let sum = 0;
  let count = 0;
  let pairEnd = -1;
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at]!;
    if (lead < 0x80) continue;
    count += 1;
    // Half-width kana of Shift JIS are single bytes.
    if (encoding === 'shift_jis' && lead >= 0xa1 && lead <= 0xdf) {
      sum -= 0.6;
      continue;
    }
    const trail = bytes[at + 1] ?? 0;
    const isPair = trail >= 0x40 && trail !== 0x7f && lead !== 0x80 && lead !== 0xff;
    sum += isPair ? value(lead, trail) : -3;
    // A letter of ASCII on both sides is a word of Latin letters.
    const isWithinWord = isAsciiLetter(bytes[at - 1]) && pairEnd < at;
    if (isPair && isWithinWord && (isAsciiLetter(trail) || isAsciiLetter(bytes[at + 2]))) sum -= 1.5;
    if (isPair) pairEnd = at + 2;
    if (isPair) at += 1;
  }
  return count === 0 ? 0 : sum / count;
}
