import type { Language } from '#platform/foundation';

/** The texts of answers about whole documents that no model writes, in one language. */
export interface DocumentTexts {
  /** No document has this name; `nearest`: names of other documents, maybe empty. */
  readonly unknown: (name: string, nearest: string) => string;
  /** Several documents have this name. */
  readonly several: (name: string, documents: string) => string;
  /** Before a sentence that only one of two documents has. */
  readonly onlyIn: (document: string) => string;
  readonly nothingDiffers: (one: string, other: string) => string;
  /** Before the first of many differences. */
  readonly more: (sentences: number) => string;
}

const texts: Readonly<Record<Language, DocumentTexts>> = {
  en: {
    unknown: (name, nearest) =>
      `There is no document named “${name}”.${nearest && ` The nearest names are: ${nearest}.`}`,
    several: (name, documents) => `Several documents match “${name}”: ${documents}. Which one do you mean?`,
    onlyIn: (document) => `Only in ${document}:`,
    nothingDiffers: (one, other) => `No sentence differs between ${one} and ${other}.`,
    more: (sentences) => `The first differences; ${sentences} more sentences differ.`,
  },
  de: {
    unknown: (name, nearest) =>
      `Es gibt kein Dokument mit dem Namen „${name}“.${nearest && ` Die ähnlichsten Namen sind: ${nearest}.`}`,
    several: (name, documents) => `Mehrere Dokumente passen zu „${name}“: ${documents}. Welches meinst du?`,
    onlyIn: (document) => `Nur in ${document}:`,
    nothingDiffers: (one, other) => `Kein Satz unterscheidet sich zwischen ${one} und ${other}.`,
    more: (sentences) => `Die ersten Unterschiede; ${sentences} weitere Sätze unterscheiden sich.`,
  },
  fr: {
    unknown: (name, nearest) =>
      `Aucun document ne s’appelle « ${name} ».${nearest && ` Les noms les plus proches sont : ${nearest}.`}`,
    several: (name, documents) =>
      `Plusieurs documents correspondent à « ${name} » : ${documents}. Lequel voulez-vous ?`,
    onlyIn: (document) => `Seulement dans ${document} :`,
    nothingDiffers: (one, other) => `Aucune phrase ne diffère entre ${one} et ${other}.`,
    more: (sentences) => `Les premières différences ; ${sentences} autres phrases diffèrent.`,
  },
  es: {
    unknown: (name, nearest) =>
      `No hay ningún documento llamado «${name}».${nearest && ` Los nombres más cercanos son: ${nearest}.`}`,
    several: (name, documents) => `Varios documentos corresponden a «${name}»: ${documents}. ¿Cuál quiere?`,
    onlyIn: (document) => `Solo en ${document}:`,
    nothingDiffers: (one, other) => `Ninguna frase difiere entre ${one} y ${other}.`,
    more: (sentences) => `Las primeras diferencias; difieren ${sentences} frases más.`,
  },
  it: {
    unknown: (name, nearest) =>
      `Non c’è alcun documento chiamato «${name}».${nearest && ` I nomi più vicini sono: ${nearest}.`}`,
    several: (name, documents) => `Più documenti corrispondono a «${name}»: ${documents}. Quale intende?`,
    onlyIn: (document) => `Solo in ${document}:`,
    nothingDiffers: (one, other) => `Nessuna frase è diversa tra ${one} e ${other}.`,
    more: (sentences) => `Le prime differenze; altre ${sentences} frasi sono diverse.`,
  },
  nl: {
    unknown: (name, nearest) =>
      `Er is geen document met de naam “${name}”.${nearest && ` De namen die er het meest op lijken zijn: ${nearest}.`}`,
    several: (name, documents) => `Meerdere documenten passen bij “${name}”: ${documents}. Welk bedoel je?`,
    onlyIn: (document) => `Alleen in ${document}:`,
    nothingDiffers: (one, other) => `Geen zin verschilt tussen ${one} en ${other}.`,
    more: (sentences) => `De eerste verschillen; nog ${sentences} zinnen verschillen.`,
  },
  pt: {
    unknown: (name, nearest) =>
      `Não há nenhum documento chamado “${name}”.${nearest && ` Os nomes mais próximos são: ${nearest}.`}`,
    several: (name, documents) => `Vários documentos correspondem a “${name}”: ${documents}. Qual deles?`,
    onlyIn: (document) => `Somente em ${document}:`,
    nothingDiffers: (one, other) => `Nenhuma frase difere entre ${one} e ${other}.`,
    more: (sentences) => `As primeiras diferenças; mais ${sentences} frases diferem.`,
  },
  pl: {
    unknown: (name, nearest) =>
      `Nie ma dokumentu o nazwie „${name}”.${nearest && ` Najbliższe nazwy to: ${nearest}.`}`,
    several: (name, documents) => `Do „${name}” pasuje kilka dokumentów: ${documents}. Który?`,
    onlyIn: (document) => `Tylko w ${document}:`,
    nothingDiffers: (one, other) => `Żadne zdanie nie różni się między ${one} a ${other}.`,
    more: (sentences) => `Pierwsze różnice; różni się jeszcze ${sentences} zdań.`,
  },
};

/** The texts of answers about whole documents in a language. */
export function documentTexts(language: Language): DocumentTexts {
  return texts[language];
}
