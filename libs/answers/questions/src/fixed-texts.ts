import type { Language } from '#platform/foundation';

/** The texts of answers that no model writes, in one language. */
export interface FixedTexts {
  /** The documents do not answer the question. */
  readonly noAnswer: string;
  /** Before a passage, and before several, that may not answer. */
  readonly closest: readonly [one: string, several: string];
  /** Before the closest passage, with the name of its document. */
  readonly closestIn: (source: string) => string;
  /** Before the text of one of several documents. */
  readonly from: (source: string) => string;
  /** Names of the question that the documents do not have, in quotation marks. */
  readonly missing: (names: readonly string[]) => string;
  /** Before the list of the documents that mention a topic; `isPartial`: there may be more. */
  readonly mentions: (topic: string, isPartial: boolean) => string;
  /** Asks a model for this language. */
  readonly answerIn: string;
}

const texts: Readonly<Record<Language, FixedTexts>> = {
  en: {
    noAnswer: 'I could not find the answer in the provided documents.',
    closest: ['Closest passage:', 'Closest passages:'],
    closestIn: (source) => `Closest passage, in “${source}”:`,
    from: (source) => `From “${source}”`,
    missing: (names) =>
      `${listed(names, 'and')} ${names.length > 1 ? 'are' : 'is'} not mentioned in the documents that were found.`,
    mentions: (topic, isPartial) =>
      `“${topic}” is mentioned in${isPartial ? ', among others,' : ''} these documents:`,
    answerIn: 'Answer in English.',
  },
  de: {
    noAnswer: 'Ich konnte die Antwort in den vorliegenden Dokumenten nicht finden.',
    closest: ['Nächstliegende Stelle:', 'Nächstliegende Stellen:'],
    closestIn: (source) => `Nächstliegende Stelle, in „${source}“:`,
    from: (source) => `Aus „${source}“`,
    missing: (names) =>
      `${listed(names, 'und')} ${names.length > 1 ? 'kommen' : 'kommt'} in den gefundenen Dokumenten nicht vor.`,
    mentions: (topic, isPartial) =>
      `„${topic}“ kommt${isPartial ? ' unter anderem' : ''} in diesen Dokumenten vor:`,
    answerIn: 'Antworte auf Deutsch.',
  },
  fr: {
    noAnswer: 'Je n’ai pas trouvé la réponse dans les documents fournis.',
    closest: ['Passage le plus proche :', 'Passages les plus proches :'],
    closestIn: (source) => `Passage le plus proche, dans « ${source} » :`,
    from: (source) => `Extrait de « ${source} »`,
    missing: (names) =>
      `${listed(names, 'et')} ${names.length > 1 ? 'ne sont pas mentionnés' : 'n’est pas mentionné'} dans les documents trouvés.`,
    mentions: (topic, isPartial) =>
      `« ${topic} » est mentionné${isPartial ? ' entre autres' : ''} dans ces documents :`,
    answerIn: 'Réponds en français.',
  },
  es: {
    noAnswer: 'No he encontrado la respuesta en los documentos disponibles.',
    closest: ['Pasaje más cercano:', 'Pasajes más cercanos:'],
    closestIn: (source) => `Pasaje más cercano, en «${source}»:`,
    from: (source) => `De «${source}»`,
    missing: (names) =>
      `${listed(names, 'y')} no ${names.length > 1 ? 'se mencionan' : 'se menciona'} en los documentos encontrados.`,
    mentions: (topic, isPartial) =>
      `«${topic}» se menciona${isPartial ? ', entre otros,' : ''} en estos documentos:`,
    answerIn: 'Responde en español.',
  },
  it: {
    noAnswer: 'Non ho trovato la risposta nei documenti forniti.',
    closest: ['Passaggio più vicino:', 'Passaggi più vicini:'],
    closestIn: (source) => `Passaggio più vicino, in «${source}»:`,
    from: (source) => `Da «${source}»`,
    missing: (names) =>
      `${listed(names, 'e')} non ${names.length > 1 ? 'sono menzionati' : 'è menzionato'} nei documenti trovati.`,
    mentions: (topic, isPartial) =>
      `«${topic}» è menzionato${isPartial ? ' tra l’altro' : ''} in questi documenti:`,
    answerIn: 'Rispondi in italiano.',
  },
  nl: {
    noAnswer: 'Ik kon het antwoord niet vinden in de beschikbare documenten.',
    closest: ['Dichtstbijzijnde passage:', 'Dichtstbijzijnde passages:'],
    closestIn: (source) => `Dichtstbijzijnde passage, in “${source}”:`,
    from: (source) => `Uit “${source}”`,
    missing: (names) =>
      `${listed(names, 'en')} ${names.length > 1 ? 'worden' : 'wordt'} niet genoemd in de gevonden documenten.`,
    mentions: (topic, isPartial) =>
      `“${topic}” wordt${isPartial ? ' onder andere' : ''} genoemd in deze documenten:`,
    answerIn: 'Antwoord in het Nederlands.',
  },
  pt: {
    noAnswer: 'Não encontrei a resposta nos documentos fornecidos.',
    closest: ['Trecho mais próximo:', 'Trechos mais próximos:'],
    closestIn: (source) => `Trecho mais próximo, em “${source}”:`,
    from: (source) => `De “${source}”`,
    missing: (names) =>
      `${listed(names, 'e')} não ${names.length > 1 ? 'são mencionados' : 'é mencionado'} nos documentos encontrados.`,
    mentions: (topic, isPartial) =>
      `“${topic}” é mencionado${isPartial ? ', entre outros,' : ''} nestes documentos:`,
    answerIn: 'Responda em português.',
  },
  pl: {
    noAnswer: 'Nie udało mi się znaleźć odpowiedzi w dostępnych dokumentach.',
    closest: ['Najbliższy fragment:', 'Najbliższe fragmenty:'],
    closestIn: (source) => `Najbliższy fragment, w „${source}”:`,
    from: (source) => `Z „${source}”`,
    missing: (names) => `W znalezionych dokumentach nie ma: ${listed(names, 'i')}.`,
    mentions: (topic, isPartial) =>
      `„${topic}” występuje${isPartial ? ' między innymi' : ''} w tych dokumentach:`,
    answerIn: 'Odpowiedz po polsku.',
  },
};

function listed(names: readonly string[], and: string): string {
  const quoted = names.map((name) => `“${name}”`);
  return quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} ${and} ${quoted.at(-1)}` : quoted.join('');
}

/** The fixed texts of a language; English where it is not known. */
export function fixedTexts(language: Language | undefined): FixedTexts {
  return texts[language ?? 'en'];
}

/** The text that the documents do not answer, in each language. */
export const refusals: readonly string[] = Object.values(texts).map(({ noAnswer }) => noAnswer);
