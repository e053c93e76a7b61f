import type { Candidate } from './sentence.js';

/** Features for questions about names of programs, in the order of the fusion's weights. */
export const nameEvidenceNames = [
  'name asked',
  'name cited',
  'heading asked',
  'document asked',
  'kind of name',
  'way and name',
  'definition',
] as const;

/** A name in a program: `--retry`, `/v1/models`, `ForwardAgent`, `key=value`; or a beginning that no title has. */
const termLike = /^[^\p{L}\p{N}\s]|^[\p{Ll}\d]|[_=<>{}[\]/]|\p{Ll}\p{Lu}/u;

/** Whether a heading is a term that the text below explains, as in a list of options. */
export function isTerm(heading: string): boolean {
  return heading !== '' && termLike.test(heading);
}

/** The name in the first cell of a table's row: `LLM_ENDPOINT` of `variable: LLM_ENDPOINT; default: …`. */
export function nameOfRow(row: string): string {
  return /^[^:;]{1,60}: ([^;]{1,80});/.exec(row)?.[1]?.trim() ?? '';
}

/** Names within a text: options, variables, paths, files, functions. */
const nameWithin =
  /(?<![\p{L}\p{N}])(?:--?\p{L}[\p{L}\p{N}-]+|\p{L}+_[\p{L}\p{N}_]+|\/[\p{L}\p{N}._{}/-]{2,}|x-[a-z-]{3,}|\p{L}[\p{L}\p{N}-]*\.\p{Ll}{2,5}(?![\p{L}\p{N}])|\p{Ll}+\p{Lu}\p{L}+|\p{Lu}\p{Ll}+\p{Lu}\p{L}+)/gu;
/** Questions that such a name answers. */
const asksForName =
  /\b(?:which|what)(?: [\p{L}-]+){0,2}? (?:option|command|flag|parameter|setting|variable|header|endpoint|path|file|directory|folder|key|field|function|method|event|error|code|script|service|port)s?\b|^(?:and )?where\b/iu;
/** Questions about the meaning of one thing. */
const asksForMeaning =
  /^(?:and )?what (?:is|are|does|do) (?:an? |the )?(.{2,60}?)(?: (?:of|in|with|for) .{2,40}?)?(?: (?:do|mean|stand for|for))?\s*\?*$/i;

/** The evidence of each candidate. `stemsOf` returns the stems of a text; `ways`: the question asks for a way. */
export function nameEvidence(
  question: string,
  { stemsOf, ways }: { stemsOf: (text: string) => ReadonlySet<string>; ways: boolean },
): (candidate: Candidate) => number[] {
  const asked = stemsOf(question);
  const cited = new Set(citedIn(question));
  const forName = asksForName.test(question);
  const meant = stemsOf(asksForMeaning.exec(question.trim())?.[1] ?? '');
  return ({ name, heading, document, text }) => {
    const aliases = aliasesOf(name);
    const hasName = (text.match(nameWithin) ?? []).some((one) => !cited.has(one));
    return [
      Math.max(0, ...aliases.map((alias) => shareOf(stemsOf(alias), asked))),
      Number(aliases.some((alias) => cited.has(alias))),
      shareOf(stemsOf(heading.split(' > ').at(-1)!), asked),
      shareOf(stemsOf(document), asked),
      Number(forName && hasName),
      Number(ways && hasName),
      Number(meant.size > 0 && defines(text, meant, stemsOf)),
    ];
  };
}

/** The names of a term without their arguments: `-x`, `--proxy` of `-x, --proxy [protocol://]host`. */
function aliasesOf(term: string): string[] {
  return term.split(/,\s+|\s+\|\s+/).flatMap((alias) => /^[^\s=[<({]+/.exec(alias.trim())?.[0] ?? []);
}

/** Words of a question that look like names in a program. */
function citedIn(question: string): string[] {
  return question
    .split(/\s+/)
    .map((word) => word.replaceAll(/^["'`(]+|["'`)?!.,;:]+$/g, ''))
    .filter((word) => word !== '' && /^-|[_/.=-]|\p{Ll}\p{Lu}/u.test(word));
}

/** Whether a text begins with a term and defines it. */
function defines(
  text: string,
  meant: ReadonlySet<string>,
  stemsOf: (text: string) => ReadonlySet<string>,
): boolean {
  const [, subject] =
    /^(?:an? |the )?([^.;:]{1,60}?)(?: (?:is|are|means|defines|describes|has|specifies|returns)\b|:)/i.exec(
      text,
    ) ?? [];
  if (subject === undefined) return false;
  const stems = stemsOf(subject);
  return stems.size <= meant.size + 1 && [...meant].every((stem) => stems.has(stem));
}

/** Share of one set that is in another. */
export function shareOf(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...some].filter((one) => others.has(one)).length / Math.max(1, some.size);
}
