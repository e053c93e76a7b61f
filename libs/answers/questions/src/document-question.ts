import { hasWord } from './summary-question.js';

/** A question about whole documents, which no search can answer: it names the documents. */
export interface DocumentQuestion {
  kind: 'summary' | 'comparison';
  /** The names as the question has them: one for a summary, two for a comparison. */
  names: { text: string; isExplicit: boolean }[];
  /** The question may be about a topic of this name: "What is Kubernetes about?". */
  isLoose: boolean;
}

const please = String.raw`(?:(?:hi|hello|hey|ok|okay|hallo|bonjour|hola)[,!.]? )?(?:please |kindly |bitte )?(?:(?:can|could|would|will) you (?:please )?|kannst du (?:mir )?(?:bitte )?|können sie (?:mir )?(?:bitte )?)?`;
const name = String.raw`(.{2,200}?)`;
const end = String.raw`(?: (?:for me|please|briefly|shortly|in short|in brief|bitte|in (?:one|two|three|four|five|\d+|a few) (?:sentences?|words?|paragraphs?|lines?|bullet points?|bullets|points?)|as (?:bullet points|bullets|a list)|in (?:ein|zwei|drei|vier|fünf|\d+|wenigen) (?:sätzen|satz|worten|punkten)))*[\s.?!]*`;

/** Questions for a summary of a named document. Each expression matches a whole question. */
const summaries = [
  String.raw`(?:briefly |quickly )?(?:summari[sz]e|sum up|outline|recap|condense) ${name}`,
  String.raw`(?:give|write|make|show)(?: me)? (?:a |an |the )?(?:short |brief |quick |concise )?(?:summary|overview|outline|gist|recap|tl;?dr) (?:of|for|about) ${name}`,
  String.raw`(?:a |the )?(?:short |brief |quick |concise )?(?:summary|overview|recap|tl;?dr)(?: of| for|:) ${name}`,
  String.raw`(?:fass(?:e|t|en sie)?|kannst du|können sie)(?: mir)?(?: bitte)? ${name}(?: bitte| kurz)* zusammen(?:fassen)?`,
  String.raw`(?:gib|schreib|mach|erstell)e?(?: mir)?(?: bitte)? (?:eine )?(?:kurze )?(?:zusammenfassung|übersicht) (?:von|vom|zu|zum|zur|über|des|der) ${name}`,
  String.raw`(?:eine )?(?:kurze )?(?:zusammenfassung|übersicht) (?:von|vom|zu|zum|zur|über|des|der) ${name}`,
  String.raw`(?:résume[rz]?|fais(?:-moi)? un résumé d[eu]|(?:un )?résumé d[eu]) ${name}`,
  String.raw`(?:resume|resumir|haz(?:me)? un resumen de|(?:un )?resumen de|resuma|(?:um )?resumo d[eoa]) ${name}`,
  String.raw`(?:riassumi|(?:un )?riassunto di|vat|streść|streszczenie) ${name}(?: samen)?`,
];

/** Questions that ask for the contents of a document, or about a topic. */
const contents = [
  String.raw`what(?:'s|’s| is| does) ${name} (?:about|(?:say|contain|cover|describe)(?: overall| in general)?)`,
  String.raw`what(?:'s|’s| is)(?: written| said)? (?:in|inside) ${name}`,
  String.raw`(?:worum|um was) geht(?: es|['’]?s)(?: hier)? (?:in|im) ${name}`,
  String.raw`was steht(?: alles)? (?:in|im) ${name}`,
];

const and = String.raw`(?:and|und|et|y|with|mit|to|vs\.?|versus)`;
/** Questions for the differences between two named documents. */
const comparisons = [
  String.raw`what(?:'s| has| is| are)? ?(?:all )?(?:the )?(?:changed|different|differs?|new|changes|differences?) (?:between|from|in) ${name} (?:${and}|compared (?:with|to)) ${name}`,
  String.raw`(?:show|list|give|tell|describe|explain)?(?: me)? ?(?:all )?(?:the )?(?:changes|differences?) (?:between|from) ${name} ${and} ${name}`,
  String.raw`compare ${name} ${and} ${name}`,
  String.raw`how (?:does|do|is|are) ${name} (?:differ|different) from ${name}`,
  String.raw`was (?:hat|haben) sich (?:zwischen|von) ${name} (?:und|zu) ${name} (?:geändert|verändert)`,
  String.raw`(?:was (?:ist|sind) )?(?:der|die)? ?unterschiede? zwischen ${name} und ${name}`,
  String.raw`vergleiche? (?:bitte )?${name} (?:mit|und) ${name}`,
];

const whole = (forms: readonly string[]) => forms.map((form) => new RegExp(`^${please}${form}${end}$`, 'iu'));
const patterns = [
  { kind: 'comparison', isLoose: false, forms: whole(comparisons) },
  { kind: 'summary', isLoose: false, forms: whole(summaries) },
  { kind: 'summary', isLoose: true, forms: whole(contents) },
] as const;

/** A word that says that a document follows, or that one came before. */
const noun =
  'documents?|docs?|files?|pdfs?|pages?|reports?|papers?|articles?|dokument(?:e|s|en)?|datei(?:en)?|dateien|berichts?|seite|document|fichier|documento|archivo|bestand|plik';
const article = String.raw`(?:the|this|that|a|an|our|my|das|die|der|dem|den|des|unser\w*|mein\w*|le|la|les|el|los|il|lo|de|het|o|os|as)`;
const announced = new RegExp(
  String.raw`^(?:${article} )?(?:(?:content|contents|inhalt|text) (?:of|von|der|des) (?:${article} )?)?(?:(?:${noun}) (?:named |called |namens )?)`,
  'iu',
);
const beginning = new RegExp(`^${article} `, 'iu');
const quoted = /^["'“”„«»‘’`]+|["'“”„«»‘’`]+$/gu;
const partOf = /.(?: of| from| in| within| von| aus| im| de) .*\.[a-z]{2,5}\d?$/i;
const extension = /\.(?:[a-z]{2,5}\d?)$/i;

/** The documents that a question asks about as a whole: "Summarize handbook.md", "What changed between A and B?". */
export function documentQuestionOf(question: string): DocumentQuestion | undefined {
  const asked = question.trim().replaceAll(/\s+/g, ' ');
  if (asked.length > 500 || !hasWord(asked)) return undefined;
  for (const { kind, isLoose, forms } of patterns)
    for (const form of forms) {
      const found = form.exec(asked);
      if (!found) continue;
      const names = found.slice(1).map(readName);
      if (names.every(({ text }) => (hasWord(text) || /\p{N}/u.test(text)) && !isUnnamed.test(text)))
        return { kind, names, isLoose };
    }
  return undefined;
}

/** Words in place of a name: the conversation says what they mean. */
const isUnnamed = new RegExp(
  String.raw`^(?:${noun}|this|that|it|them|these|those|everything|all|all of (?:it|them)|both|(?:(?:your|the|our|this) )?(?:conversation|chat|dialogue?|above|answer|last answer)|the following.*|es|das|alles|dies\w*)$`,
  'i',
);

function readName(given: string): DocumentQuestion['names'][number] {
  const text = given.trim();
  const isAnnounced = announced.test(text);
  const bare = text.replace(announced, '').replace(beginning, '');
  const unquoted = bare.replaceAll(quoted, '').trim();
  const isQuoted = unquoted !== bare.trim();
  // "chapter 3 of handbook.md" is a part of a document, which a search finds.
  const isPart = !isQuoted && partOf.test(unquoted);
  return {
    text: unquoted === '' ? text : unquoted,
    isExplicit: isQuoted || (!isPart && (isAnnounced || extension.test(unquoted))),
  };
}
