import { stemSet } from '#engine/encoders';
import type { Span } from './sentence-spans.js';
import type { PassageWords } from './similarity.js';

/** A part of an answer, and the passage that supports it by its words. */
export interface Inferred extends Span {
  readonly passage: PassageWords;
}

/** The least share of a statement's words in a passage that supports it, and their least number. */
const minShare = 0.6;
const minWords = 3;

/** Sentences that say that there is no answer, in the languages of the prompt. */
const denials = [
  String.raw`(?:could|can|did|do|does|was|were|is|are)(?: ?not|n['’]t|nnot)\b[^.!?]{0,60}\b(?:find|found|contain|mention|provide|say|state|include|hold|answer|available|specif|information|able)|cannot (?:find|answer)|\bno (?:information|mention|answer)\b`,
  String.raw`\b(?:nicht|kein[a-z]{0,2})\b[^.!?]{0,60}\b(?:gefunden|finden|enthalten|genannt|erwähnt|beantworten|angegeben|hervor|Angaben?|Informationen)|\bkeine (?:Antwort|Angaben|Informationen)`,
  String.raw`\b(?:ne|n['’])\s?[^.!?]{0,40}\bpas\b[^.!?]{0,60}(?:trouv|contien|mention|répon|indiqu)|pas trouvé|aucune (?:information|réponse)`,
  String.raw`\bno\b[^.!?]{0,30}(?:he encontrado|encontr|contien|mencion|hay información)|ninguna (?:información|respuesta)`,
  String.raw`\bnon\b[^.!?]{0,30}(?:ho trovato|trov|conten|menzion)|nessuna (?:informazione|risposta)`,
  String.raw`\b(?:niet|geen)\b[^.!?]{0,40}(?:gevonden|vinden|vermeld|antwoord|informatie)|kon\b[^.!?]{0,40}niet vinden`,
  String.raw`\bnão\b[^.!?]{0,30}(?:encontr|cont[ée]m|menciona|há informa)|nenhuma (?:informação|resposta)`,
  String.raw`\bnie\b[^.!?]{0,30}(?:znalaz|znaleź|zawiera|wspomina)|brak (?:informacji|odpowiedzi)`,
];
const denial = new RegExp(denials.map((pattern) => `(?:${pattern})`).join('|'), 'iu');

/** Whether an answer says that the passages do not hold one. */
export function isRefusal(answer: string, refusals: readonly string[] = []): boolean {
  const text = answer.trim();
  return (
    text === '' || refusals.some((refusal) => text.startsWith(refusal)) || denial.test(firstSentence(text))
  );
}

function firstSentence(text: string): string {
  return /^[^\n]*?[.!?](?=\s|$)|^[^\n]*/u.exec(text)?.[0] ?? text;
}

/** The passage that holds most words of a statement, its numbers among them; undefined where none holds enough. */
export function inferPassage(statement: string, passages: readonly PassageWords[]): PassageWords | undefined {
  const stems = stemSet(statement);
  if (denial.test(statement)) return undefined;
  const best = bestOf(passages, (passage) => passage.share(stems));
  return best && best.share(stems) >= minShare && best.common(stems) >= minWords ? best : undefined;
}

function bestOf(
  passages: readonly PassageWords[],
  worthOf: (passage: PassageWords) => number,
): PassageWords | undefined {
  const [first, ...rest] = passages;
  return first && rest.reduce((kept, one) => (worthOf(one) > worthOf(kept) ? one : kept), first);
}

/** A string or a number of a JSON text, with the name of its field. */
const jsonValue = /(?:"((?:[^"\\]|\\.)*)"\s*:\s*)?(?:"((?:[^"\\]|\\.)*)"(?!\s*:)|(-?\d[\d.eE+-]*))/g;

/** The passages that hold all words of a value of a JSON answer; of several the one with most words of its field. */
export function inferJsonCitations(answer: string, passages: readonly PassageWords[]): Inferred[] {
  return [...answer.matchAll(jsonValue)].flatMap(({ index, 0: all, 1: name = '', 2: text, 3: number }) => {
    const value = text ?? number ?? '';
    const stems = stemSet(value);
    if (stems.size === 0 || value.length < 2) return [];
    const field = stemSet(`${name.replaceAll(/[_-]/g, ' ')} ${value}`);
    const holding = passages.filter((passage) => passage.common(stems) === stems.size);
    const passage = bestOf(holding, (one) => one.common(field));
    const end = index + all.length - (text === undefined ? 0 : 1);
    return passage ? [{ start: end - value.length, end, passage }] : [];
  });
}
