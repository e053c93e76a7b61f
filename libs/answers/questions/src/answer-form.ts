/** The form that a question asks for its answer. */
export type AnswerForm =
  'number' | 'date' | 'word' | 'yes-no' | 'sentence' | 'list' | 'numbered-list' | 'table';

/** Names of forms, in English and German, as a part of a pattern. */
const names: readonly (readonly [AnswerForm, string])[] = [
  ['yes-no', 'yes or no|ja oder nein'],
  ['number', '(?:the |a |one )?(?:single )?number|(?:the |a )?figure|(?:der|die|einer|eine) Zahl'],
  ['date', '(?:the |a )?date|(?:dem|das) Datum'],
  ['word', '(?:a|one|1|the) (?:single )?(?:word|name)|einem (?:einzigen )?Wort'],
  ['sentence', '(?:a|one|1) (?:single |short )?sentence|einem (?:einzigen |kurzen )?Satz'],
  ['numbered-list', '(?:a )?numbered list|(?:einer )?nummerierte[rn]? Liste'],
  ['list', '(?:a )?(?:bulleted |bullet )?list|bullet points|(?:einer )?Liste|Stichpunkten'],
  ['table', '(?:a )?table|(?:einer )?Tabelle'],
];
const before = String.raw`(?:please )?(?:(?:answer|reply|respond|say|tell me|give me|show me|write|return|antworte|gib mir|schreibe?)(?: it| them| this)?(?: please| bitte)? )?(?:(?:only |just |simply |nur )?(?:in|with|as|by|using|mit|als|in Form von|from)? ?)?(?:only |just |nur )?`;
const after = String.raw`(?: only| please| alone| bitte| und sonst nichts| and nothing else)*`;

const patterns = names.map(([form, name]) => ({
  form,
  atStart: new RegExp(String.raw`^${before}(?:${name})${after}\s*[:,–-]\s*(?=\S)`, 'i'),
  atEnd: new RegExp(
    String.raw`(?:[.?!,;:]|\s[–-])\s*${before}(?:${name})${after}\s*[.!]?$|\s(?:in|with|as|als|mit) (?:only |just |nur )?(?:${name})${after}\s*[.?!]?$`,
    'i',
  ),
}));

/** A question, and the form for its answer, if it asks for one. */
export interface QuestionWithForm {
  readonly question: string;
  readonly form?: AnswerForm;
}

/**
 * Separates the instruction about the form of the answer from a question: `In one sentence: who built it?`, `How many
 * are open? Answer with the number only.` A question that only has the word in another meaning stays unchanged.
 */
export function withoutForm(question: string): QuestionWithForm {
  const asked = question.trim();
  for (const { form, atStart, atEnd } of patterns) {
    if (atStart.test(asked)) return { question: asked.replace(atStart, ''), form };
    const rest = asked.replace(atEnd, '');
    // A question mark that belongs to the question stays.
    if (rest !== asked && rest.split(/\s+/).length > 1) {
      const mark = asked.slice(rest.length).startsWith('?') || asked.endsWith('?') ? '?' : '';
      return { question: rest + mark, form };
    }
  }
  return { question };
}
