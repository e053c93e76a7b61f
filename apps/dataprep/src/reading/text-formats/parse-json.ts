/** A value of JSON. Numbers that JavaScript would write otherwise are texts. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonRecord = { [key: string]: JsonValue };

/** A text, which stays; or a number outside of texts. */
const textOrNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\d[\d.eE+-]*/g;
const numberGrammar = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Parses JSON with each number as it is written: `1.10`, `1e400` and integers of any length become texts.
 * Errors: SyntaxError.
 */
export function parseJson(source: string): JsonValue {
  const value = JSON.parse(source) as JsonValue;
  if (!/\d(?:[\d.]{14}|\.\d*0\b|[eE])|-0\b/.test(source)) return value;
  return JSON.parse(
    source.replaceAll(textOrNumber, (token) =>
      token.startsWith('"') || !numberGrammar.test(token) || String(Number(token)) === token
        ? token
        : `"${token}"`,
    ),
  ) as JsonValue;
}

/** A text, which stays; or a comment; or a comma ahead of the end of a list or an object. */
const textOrComment = /"[^"\\\n]*(?:\\[^][^"\\\n]*)*"|\/\/[^\n]*|\/\*[^]*?\*\//g;
const textOrComma = /"[^"\\\n]*(?:\\[^][^"\\\n]*)*"|,(?=\s*[\]}])/g;

const keepText = (found: string) => (found.startsWith('"') ? found : ' ');

/**
 * Parses JSON as people write it in files of settings: with comments, and with a comma after the last value. Errors: the
 * SyntaxError of the text as it is written.
 */
export function parseTolerantly(source: string): JsonValue {
  try {
    return parseJson(source);
  } catch (error) {
    const plain = source.replaceAll(textOrComment, keepText).replaceAll(textOrComma, keepText);
    if (plain === source || !(error instanceof SyntaxError)) throw error;
    try {
      return parseJson(plain);
    } catch {
      throw error;
    }
  }
}
