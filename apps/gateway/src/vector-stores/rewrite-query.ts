/**
 * Polite phrases around a question, in English and German. Each match is removed. The order matters: longer phrases
 * come first.
 */
const fillers: readonly RegExp[] = [
  /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|hallo|guten (?:morgen|tag|abend))\b(?: (?:there|all|everyone|zusammen))?[\s,.!:-]*/gi,
  /\b(?:thanks|thank you|many thanks|vielen dank|danke)(?: (?:so much|very much|in advance|im voraus|schön|sehr))?\b[.!]*/gi,
  /\b(?:could|can|would|will) you (?:please |kindly )?(?:tell|show|explain to|give|help) (?:me|us)(?: (?:about|with|to find|find|out))?\b/gi,
  /\b(?:could|can|would|will) you (?:please |kindly )?(?:find|look up|search for|explain|check|tell)(?: out)?\b/gi,
  /\bi(?:'d| would) (?:like|love) to (?:know|find out|learn|understand|ask)(?: (?:about|more about))?\b/gi,
  /\bi (?:want|need) to (?:know|find out|learn|understand)(?: (?:about|more about))?\b/gi,
  /\bi(?: am|'m| was)? (?:wondering|looking for|curious about|interested in)\b/gi,
  /\b(?:do|does) (?:you|anyone|anybody) know\b/gi,
  /\b(?:please )?tell (?:me|us)(?: (?:about|more about))?\b/gi,
  /\b(?:könntest du|kannst du|könnten sie|können sie) (?:mir|uns) (?:bitte )?(?:sagen|zeigen|erklären|helfen)\b/gi,
  /\bich (?:möchte|würde gerne|will) (?:gerne )?(?:wissen|erfahren)\b/gi,
  /\b(?:sag|sagen sie|erklär|erkläre|zeig|zeige) mir(?: bitte)?\b/gi,
  /\b(?:please|kindly|bitte)\b/gi,
];

/**
 * Removes the phrases around a question by these rules, without a model: `Hi, could you please tell me what the engine
 * runs on? Thanks!` becomes `what the engine runs on?`. Returns the original question where the rest would be empty.
 */
export function rewriteQuery(query: string): string {
  const left = fillers
    .reduce((text, filler) => text.replaceAll(filler, ' '), query)
    .replaceAll(/\s+([,.!?;:])/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s,.!;:-]+/, '')
    .replace(/[\s,.!;:-]+$/, '');
  return /[\p{L}\p{N}]/u.test(left) ? left : query;
}
