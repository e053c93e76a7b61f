/** Characters per token: words and spaces of English have about four, numbers and code about two. */
const perLetter = 1 / 4;
const perSign = 1 / 2;
/** Letters of other scripts: in Latin and Cyrillic about two characters a token, in Chinese one. */
const perForeignLetter = 1 / 2;
const perIdeograph = 1;

/** Estimates the tokens of a text for engines that cannot count them; rather too many than too few. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += weightOf(text.charCodeAt(index));
  return Math.ceil(tokens);
}

function weightOf(code: number): number {
  if (code >= 0x2e80) return perIdeograph;
  if (code >= 0x80) return perForeignLetter;
  const isWord = code === 32 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return isWord ? perLetter : perSign;
}
