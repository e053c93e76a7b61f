const namedEscapes: Readonly<Record<number, string>> = { 9: '\\t', 10: '\\n', 13: '\\r', 92: '\\\\' };

/**
 * Text as Python prints its UTF-8 bytes, e.g. `b'caf\xc3\xa9'`: the form in which OPEA's ChatQnA streams tokens.
 * Quotes as Python chooses them: double ones when the text holds a single quote and no double one.
 */
export function pythonBytesLiteral(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = [...Buffer.from(text, 'utf8')].map((byte) => escapeByte(byte, quote)).join('');
  return `b${quote}${body}${quote}`;
}

function escapeByte(byte: number, quote: string): string {
  const named = namedEscapes[byte];
  if (named) return named;
  if (byte < 32 || byte > 126) return `\\x${byte.toString(16).padStart(2, '0')}`;
  const character = String.fromCharCode(byte);
  return character === quote ? `\\${character}` : character;
}
