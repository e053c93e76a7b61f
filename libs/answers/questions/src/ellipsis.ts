/** What begins a question that goes on with the one before, in English and German. */
const beginning = String.raw`(?:and|but|or|so|what about|how about|und|aber|oder|was ist mit|wie (?:ist|sieht|steht) es mit)`;
const article = '(?:the|a|an|der|die|das|den|dem|ein|eine|einen|einem)';
const prepositions =
  'for|in|on|at|of|to|from|by|with|during|after|before|without|für|im|in|am|an|auf|bei|von|vom|mit|nach|vor|ohne|zum|zur|aus';
const word = String.raw`\p{L}[\p{L}\p{N}'’-]*`;

/** `And the wood one?`, `Und der große?`: the same thing of another kind. */
const otherKind = new RegExp(
  String.raw`^${beginning}\s+${article}\s+(${word})\s+(?:one|ones)[\s?.!]*$`,
  'iu',
);
const otherKindGerman = new RegExp(
  String.raw`^(?:und|aber|oder|was ist mit)\s+(?:der|die|das|den|dem)\s+(\p{Ll}+e[nrsm]?)[\s?.!]*$`,
  'u',
);
/** `And for juniors?`, `What about in July?`. */
const otherPlace = new RegExp(
  String.raw`^${beginning}\s+(${prepositions})\s+(${word}(?:\s+${word}){0,4})[\s?.!]*$`,
  'iu',
);
/**
 * A noun with one word before it: `the electric stove`, `der kleine Transporter`. At the end of `What does the stove cost?`
 * stands a verb.
 */
const described = new RegExp(
  String.raw`(?<!\p{L})(${article})\s+(\p{Ll}[\p{L}-]*)\s+(?=\p{L}[\p{L}-]*\s+\p{L})` +
    String.raw`|(?<=\b(?:is|are|was|were|of|for|about|in|on|with)\s+)(${article})\s+(\p{Ll}[\p{L}-]*)\s+(?=\p{L}[\p{L}-]*[\s?.!]*$)`,
  'u',
);
const describedGerman = /(?<!\p{L})(der|die|das|den|dem)\s+(\p{Ll}+e[nrsm]?)\s+(?=\p{Lu})/u;

/**
 * The question before with what a follow-up has instead of a part of it: `What does the wood stove cost?` for `And the
 * wood one?` after `What does the electric stove cost?`; `What is the fee for juniors?` for `And for juniors?` after `What
 * is the fee for adults?`. Undefined for other follow-ups, and where the question before has no such part.
 */
export function withOtherPart(previous: string, followUp: string): string | undefined {
  const asked = followUp.trim();
  const kind = otherKind.exec(asked)?.[1];
  if (kind !== undefined) return replaced(previous, described, kind);
  const german = otherKindGerman.exec(asked.replace(/^\p{Lu}/u, (first) => first.toLowerCase()))?.[1];
  if (german !== undefined) return replaced(previous, describedGerman, german);
  const [, preposition, phrase] = otherPlace.exec(asked) ?? [];
  if (preposition === undefined) return undefined;
  const part = new RegExp(
    String.raw`(?<!\p{L})${preposition}\s+[^?.!,;]+?(?=\s+(?:${prepositions})\s|[?.!,;]|$)`,
    'iu',
  );
  return part.test(previous) ? previous.replace(part, () => `${preposition} ${phrase}`) : undefined;
}

function replaced(previous: string, pattern: RegExp, kind: string): string | undefined {
  return pattern.test(previous)
    ? previous.replace(
        pattern,
        (_all, before: string | undefined, _word, last: string | undefined) =>
          `${before ?? last ?? ''} ${kind} `,
      )
    : undefined;
}
