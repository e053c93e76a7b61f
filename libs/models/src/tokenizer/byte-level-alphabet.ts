/** Bytes that byte-level vocabularies write as the character of the same code: visible ones, outside the soft hyphen. */
function isWrittenAsItself(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/** The remaining bytes are numbered from U+0100 on, in order. */
const bytes = new Map<string, number>();
let shifted = 0;
for (let byte = 0; byte < 256; byte++) {
  bytes.set(String.fromCodePoint(isWrittenAsItself(byte) ? byte : 0x100 + shifted++), byte);
}

/** The byte behind a letter of a byte-level vocabulary (GPT-2's alphabet); other letters count as `?`. */
export function byteOfLetter(letter: string): number {
  return bytes.get(letter) ?? 0x3f;
}
