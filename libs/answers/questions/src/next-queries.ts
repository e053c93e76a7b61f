import { contentWords } from './condense-question.js';

/** What a further search of a question has to find. */
export interface NextQueries {
  /** Content words of the question that the passages do not have, in the order of the question. */
  readonly missing: string[];
  /** The names in the passages that the question may be about, the likeliest one first. */
  readonly links: Link[];
}

/** A name in a passage, and the query that looks for what is said about it. */
export interface Link {
  readonly name: string;
  readonly query: string;
}

/** Passages whose names lead on, in the order of the ranking. */
const maxPassages = 3;
/** A passage counts less for each passage before it. */
const rankWeight = 0.5;
/** Characters that different forms of a word have in common. */
const stemCharacters = 5;
/** Where sentences end; not behind an initial or an abbreviation. */
const sentenceEnd = /(?<=[.!?])(?<!(?<!\p{L})(?:\p{Lu}|v|vs|Dr|Mr|Mrs|Ms|St|No)\.)\s+(?=[\p{Lu}\p{N}])|\n+/u;
/** Names that lead nowhere. */
const calendar =
  /^(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)$/;
/** Words of a link that is not a name. */
const maxPlainWords = 5;

/** Words of a question that say what kind of value is asked for. Their answers do not repeat them. */
const kindWords = new Set(
  'year day date time hour number amount name kind type sort colour color price cost long old high deep large big far often person people place town country'
    .split(' ')
    .map(stem),
);

/**
 * Finds out whether a passage says everything that a question asks, by its words, and if not, which names a further
 * search should look up. "In which year was the engineer of the Marlow bridge born?" with a passage that names Elsa Quint
 * as its engineer lacks `born`, and leads on to the query `Elsa Quint year born`. `chain`: the best passage and those that
 * its names led to, the last one first; words of the question in them are not searched for again. `others`: further passages. The first
 * ones count most, and within them the sentences that have most words of the question. This does not use a model.
 */
export function nextQueries(
  question: string,
  chain: readonly string[],
  others: readonly string[] = [],
): NextQueries {
  const asked = [...new Map(contentWords(question).map((word) => [stem(word), word])).entries()];
  const passages = [...chain, ...others].slice(0, maxPassages);
  const lackedBy = (text: string) => {
    const said = new Set(wordsOf(text).map(stem));
    return asked.filter(([form]) => !said.has(form));
  };
  const isSupported = (lacked: typeof asked) => lacked.every(([form]) => kindWords.has(form));
  const missing = lackedBy(chain.join('\n'));
  if ([missing, ...passages.map(lackedBy)].some(isSupported)) return { missing: [], links: [] };
  const words = missing.map(([, word]) => word);
  const known = new Set(asked.map(([form]) => form));
  const links = new Map<string, { name: string; score: number }>();
  for (const [rank, text] of passages.entries()) {
    for (const { name, score } of linksOf(text, known)) {
      const weighted = score * rankWeight ** rank;
      const key = name.toLowerCase();
      if (weighted > (links.get(key)?.score ?? 0)) links.set(key, { name, score: weighted });
    }
  }
  const ordered = [...links.values()].toSorted((left, right) => right.score - left.score);
  const found = ordered.map(({ name }) => name);
  const chosen = found.length > 0 ? found : plainLink(passages[0] ?? '', known);
  return { missing: words, links: chosen.map((name) => ({ name, query: [name, ...words].join(' ') })) };
}

/** Whether a passage is about a name: it has at least half of its words. */
export function isAbout(text: string, name: string): boolean {
  const words = new Set(wordsOf(text).map((word) => word.toLowerCase()));
  const own = contentWords(name).map((word) => word.toLowerCase());
  return own.length > 0 && own.filter((word) => words.has(word)).length * 2 >= own.length;
}

/** The sentences of a text, with the share of the question that each of them has. */
function sentencesOf(text: string, known: ReadonlySet<string>): { sentence: string; score: number }[] {
  return text.split(sentenceEnd).map((sentence) => {
    const said = new Set(wordsOf(sentence).map(stem));
    const shared = [...known].filter((form) => said.has(form)).length;
    return { sentence, score: (1 + shared) / (1 + known.size) };
  });
}

/** The names of a text that the question does not have. */
function linksOf(text: string, known: ReadonlySet<string>): { name: string; score: number }[] {
  return sentencesOf(text, known).flatMap(({ sentence, score }) =>
    namesOf(sentence)
      .filter((name) => contentWords(name).some((word) => !known.has(stem(word))))
      .map((name) => ({ name, score })),
  );
}

/** The other words of the sentence that says most of the question, for passages without a name. */
function plainLink(text: string, known: ReadonlySet<string>): string[] {
  const [best] = sentencesOf(text, known).toSorted((left, right) => right.score - left.score);
  const plain = contentWords(best?.sentence ?? '').filter((word) => !known.has(stem(word)));
  return plain.length === 0 ? [] : [plain.slice(0, maxPlainWords).join(' ')];
}

/** Words within a name that are written small. */
const joint = String.raw`(?:\s+(?:of|and|&|v\.|vs\.|de|del|della|di|da|von|van|der|den|du|la|le|zu|y)(?=\s+\p{Lu}))`;
const nameWord = String.raw`(?:\p{Lu}|\p{N}(?=[\p{N}.]*\p{Lu}))[\p{L}\p{N}.’'&/-]*`;
const number = String.raw`\p{N}[\p{N}.]*`;
const namePattern = new RegExp(
  String.raw`${nameWord}(?:(?:${joint}|\s+${number})*\s+${nameWord}|\s+${number})*`,
  'gu',
);

/** The names of a sentence: runs of capitalized words, and words with digits. A single first word is not a name. */
function namesOf(sentence: string): string[] {
  return [...sentence.matchAll(namePattern)].flatMap(({ 0: run, index }) => {
    const name = withoutOpening(run.replace(/[.’'&/-]+$/u, ''), index === 0);
    return contentWords(name).length > 0 && !calendar.test(name) ? [name] : [];
  });
}

/** The name without the capitalized stop words in front, as "The Corrigan"; nothing of a single first word. */
function withoutOpening(run: string, isFirst: boolean): string {
  const words = run.split(/\s+/);
  while (words.length > 0 && contentWords(words[0]!).length === 0) words.shift();
  const isWord = isFirst && words.length === 1 && /^\p{Lu}\p{Ll}+$/u.test(words[0]!) && run === words[0];
  return isWord ? '' : words.join(' ');
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? [];
}

/** The beginning of a word without its ending, so that `open` and `opened` are the same. */
function stem(word: string): string {
  return word
    .toLowerCase()
    .replace(/(?<=.{3})(?:ing|ed|es|s|e)$/u, '')
    .slice(0, stemCharacters);
}
