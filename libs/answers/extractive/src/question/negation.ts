import { stemsOf } from '../stems.js';

/** Words that negate, in English and German. */
const negation =
  /^(?:not|no|never|none|neither|nor|cannot|without|except|excluding|excluded|excludes?|lacks?|lacking|n't|nicht|kein(?:e[nmrs]?)?|nie|niemals|ohne|außer|weder)$/i;
/** Words by which a sentence says that something is not so, besides those that negate. */
const denial =
  /^(?:only|nobody|nothing|nowhere|hardly|rarely|barely|unless|instead|exempt(?:ed|ion|ions)?|exceptions?|forbidden|forbids?|prohibit(?:ed|s|ion)?|ban(?:s|ned)?|refus(?:e|es|ed)|den(?:y|ies|ied)|reject(?:s|ed)?|void|invalid|fail(?:s|ed|ure)?|miss(?:es|ing|ed)|omit(?:s|ted)?|stops?|avoid(?:s|ed)?|unable|impossible|insufficient|ineligible|illegal|irreversible|nur|verboten|untersagt|ausgenommen|ausgeschlossen|unmöglich)$/i;
/** Adjectives that begin with a negation: `unsupported`. */
const negatedWord = /^(?:un(?!it|ion|ique|iform|ivers|der|til|less)|non-?)\p{L}{4,}$/iu;
const word = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;
/** Questions for things, persons, places and times, which a sentence can answer with the opposite. */
const asksForThing =
  /^(?:and |but |in |at |on |for |from |to |under |with |of )*(?:which|what|who|whom|whose|where|when|welche[mnrs]?|was|wer|wen|wem|wo|wann)\b/i;
/** A condition after which a negation is not about what is asked. */
const condition = /^(?:if|because|although|while|that|wenn|falls|weil|dass|obwohl)$/i;
/** Number of the meaningful words after a negation that it is about. */
const maxFocus = 2;

/** The words of a text; `isn't` is `is` and `n't`. */
function wordsOf(text: string): string[] {
  return (text.match(word) ?? []).flatMap((one) => {
    const plain = one.replace('’', "'");
    return /n't$/i.test(plain) ? [plain.slice(0, -3), "n't"] : [plain];
  });
}

/**
 * The stems that a negated question denies: `backed` of `which data is not backed up?`. Empty for other questions, for
 * yes-or-no questions, and where the negation is in a condition (`what do I do if it does not start?`).
 */
export function deniedBy(question: string): string[] {
  if (!asksForThing.test(question.trim())) return [];
  const words = wordsOf(question);
  const at = words.findIndex((one) => negation.test(one) || negatedWord.test(one));
  if (at === -1 || words.slice(1, at).some((one) => condition.test(one))) return [];
  const negated = words[at]!;
  if (negatedWord.test(negated) && !negation.test(negated))
    return stemsOf(negated.replace(/^(?:un|non-?)/i, ''));
  return stemsOf(words.slice(at + 1).join(' ')).slice(0, maxFocus);
}

/**
 * Whether a text affirms what a negated question denies: it has the denied word, and nothing in it negates. `context`:
 * the heading or the sentence that announces the text, whose negation counts too.
 */
export function affirms(denied: readonly string[], text: string, context = ''): boolean {
  const [first] = denied;
  if (first === undefined) return false;
  const stems = new Set(stemsOf(text));
  if (!stems.has(first)) return false;
  return !wordsOf(`${context} ${text}`).some(
    (one) => negation.test(one) || denial.test(one) || negatedWord.test(one),
  );
}
