/** Words that a sentence begins with which lean on the sentence before it: alone it would not be understood. */
const leaning =
  /^(it|its|this|that|these|those|they|them|their|he|him|his|she|her|such|there|here|then|thus|so|but|and|or|nor|however|therefore|moreover|furthermore|also|instead|otherwise|meanwhile|for example|for instance|in addition|as a result|both|neither|another|others?)\b/i;

interface Form {
  pattern: RegExp;
  /** The first group is a thing, which has to be clear by itself. */
  aboutThing?: boolean;
  ask: (...groups: string[]) => string;
}

const subject = String.raw`((?:[^\s,;:()]+ ){0,6}?[^\s,;:()]+)`;

/** A subject that these are part of is no thing to ask about by itself. */
const unclear = /\b(that|which|who|whose|what|two|before|after|one|more|less|not|each|same|former|latter)\b/i;

/** The first that fits makes the question. */
const forms: readonly Form[] = [
  { pattern: /^(?:In order )?[Tt]o ([a-z][^,:;]{3,70}), /, ask: (action) => `How do I ${action}?` },
  { pattern: /^(?:If|When|Once) ([^,;]{5,90}), /, ask: (case_) => `What happens when ${lower(case_)}?` },
  {
    pattern: new RegExp(`^${subject} (is|are|was|were) (?:an?|the|one of|called|known as) `),
    aboutThing: true,
    ask: (who, verb) => `What ${verb} ${lower(who)}?`,
  },
  {
    pattern: new RegExp(`^${subject} (can|must|should|may|will|cannot) ([a-z]+)`),
    aboutThing: true,
    ask: (who, verb) =>
      `What ${verb === 'cannot' ? 'can' : verb} ${lower(who)} ${verb === 'cannot' ? 'not ' : ''}do?`,
  },
];

/** True of a sentence that begins with a word for something said before it. English. */
export function leansOnContext(sentence: string): boolean {
  return leaning.test(sentence);
}

/**
 * A question that a sentence answers, made from its form; undefined where it has none that is known, or leans on the
 * sentences around it. English.
 */
export function questionOf(sentence: string): string | undefined {
  if (leansOnContext(sentence) || !/[.!]["”’)]?$/.test(sentence)) return undefined;
  for (const { pattern, ask, aboutThing } of forms) {
    const match = pattern.exec(sentence);
    if (match && !(aboutThing && unclear.test(match[1] ?? ''))) return ask(...match.slice(1));
  }
  return undefined;
}

/** Articles and other small words lose their capital inside a question; names keep theirs. */
function lower(words: string): string {
  return words.replace(
    /^(The|A|An|All|Each|Every|Some|Many|Most|No|One|Two|Three|Your|Our|My|You|We|Both|Any|In|On|At|For)\b/,
    (word) => word.toLowerCase(),
  );
}
