/** Runs of whitespace become one space, none is left at the ends. */
export function normaliseWhitespace(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** What a text is about: its words and numbers in lower case, without punctuation. */
export function contentWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
