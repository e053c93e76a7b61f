/** A text as a regular expression that matches it literally, with or without the flags `u` and `i`. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
