const file = String.raw`(?:files?|documents?|docs?|pdfs?|texts?|attachments?|attached files?|pages?|papers?|reports?)`;
const these = String.raw`(?:(?:this|that|these|those|the|my|it|them|our)(?: attached)?(?: ${file})?|${file})`;
const please = String.raw`(?:(?:hi|hello|hey|ok|okay)[,!.]? )?(?:please |kindly )?(?:(?:can|could|would|will) you (?:please )?)?`;
const short = String.raw`(?:briefly |quickly |shortly )?`;
const forMe = String.raw`(?: (?:for me|please|briefly|shortly|in short|in brief))*`;

/** Questions about a file as a whole, in English and German. Each expression matches the whole question. */
const forms = [
  String.raw`what(?:'s|’s| is| are|'re)?(?: written| said)? (?:in|inside) ${these}`,
  String.raw`what (?:does|do) ${these} (?:say|contain|describe|cover)`,
  String.raw`what(?:'s|’s| is| are) ${these}(?: all)? about`,
  String.raw`what(?:'s|’s| is| are) ${these}`,
  String.raw`${short}(?:summari[sz]e|sum up|describe|explain|read|outline)(?: ${these})?`,
  String.raw`(?:give|write|make|show)(?: me)? (?:a |an |the )?(?:short |brief |quick )?(?:summary|overview|outline|gist)(?: (?:of|about) ${these})?`,
  String.raw`(?:a |the )?(?:short |brief |quick )?(?:summary|overview|tl;?dr)(?: (?:of|for) ${these})?`,
];
const aboutTheWhole = new RegExp(`^${please}(?:${forms.join('|')})${forMe}[\\s.?!]*$`, 'i');

const datei = String.raw`(?:(?:die|der|das|dem|den|diese[rmns]?|mein\w*)(?: angehängte[nms]?)?(?: (?:datei(?:en)?|dokumente?s?|pdfs?|textes|text|anhangs?))?|es)`;
const germanForms = [
  String.raw`was (?:steht|ist)(?: alles)? (?:in ${datei}|im (?:anhang|text|dokument|pdf)|da(?:rin)?|hier(?: drin)?)`,
  String.raw`(?:worum|um was) geht(?: es|['’]?s)(?: (?:hier|in ${datei}|im (?:anhang|text|dokument|pdf)))?`,
  String.raw`was ist (?:der inhalt ${datei}|das)`,
  String.raw`(?:fass(?:e|t|en sie)?|kannst du|können sie)(?: mir)?(?: bitte)?(?: ${datei})?(?: bitte| kurz)* zusammen(?:fassen)?`,
  String.raw`(?:beschreibe?|erkläre?)(?: mir)?(?: bitte)?(?: kurz)? ${datei}`,
  String.raw`(?:eine )?(?:kurze )?(?:zusammenfassung|übersicht)(?: ${datei})?`,
];
const germanAboutTheWhole = new RegExp(`^(?:bitte )?(?:${germanForms.join('|')})(?: bitte)?[\\s.?!]*$`, 'iu');

/** Two letters or digits in a row, or one character of a script in which one character can be a word. */
const word = /[\p{L}\p{N}]{2}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Whether a text has a word that a search can use. */
export function hasWord(text: string): boolean {
  return word.test(text);
}

/**
 * Whether a question about attached files asks for their contents as a whole, like "What is in this file?". A file
 * without a question asks that, too.
 */
export function asksForSummary(question: string): boolean {
  const asked = question.trim();
  return !hasWord(asked) || aboutTheWhole.test(asked) || germanAboutTheWhole.test(asked);
}
