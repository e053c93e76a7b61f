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
  /** Before the first rows of a table. `heading`: maybe empty. */
  readonly table: (heading: string, rows: number, shown: number) => string;
}

const named = (heading: string) => (heading === '' ? '' : `${heading}: `);

const texts: Readonly<Record<Language, DocumentTexts>> = {
  en: {
    unknown: (name, nearest) =>
      `There is no document named “${name}”.${nearest && ` The nearest names are: ${nearest}.`}`,
    several: (name, documents) => `Several documents match “${name}”: ${documents}. Which one do you mean?`,
    onlyIn: (document) => `Only in ${document}:`,
    nothingDiffers: (one, other) => `No sentence differs between ${one} and ${other}.`,
    more: (sentences) => `The first differences; ${sentences} more sentences differ.`,
    table: (heading, rows, shown) =>
      `${named(heading)}A table of ${rows} rows${rows > shown ? ', of which the first are' : ''}:`,
  },
  de: {
    unknown: (name, nearest) =>
      `Es gibt kein Dokument mit dem Namen „${name}“.${nearest && ` Die ähnlichsten Namen sind: ${nearest}.`}`,
    several: (name, documents) => `Mehrere Dokumente passen zu „${name}“: ${documents}. Welches meinst du?`,
    onlyIn: (document) => `Nur in ${document}:`,
    nothingDiffers: (one, other) => `Kein Satz unterscheidet sich zwischen ${one} und ${other}.`,
    more: (sentences) => `Die ersten Unterschiede; ${sentences} weitere Sätze unterscheiden sich.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Eine Tabelle mit ${rows} Zeilen${rows > shown ? ', die ersten davon' : ''}:`,
  },
  fr: {
    unknown: (name, nearest) =>
      `Aucun document ne s’appelle « ${name} ».${nearest && ` Les noms les plus proches sont : ${nearest}.`}`,
    several: (name, documents) =>
      `Plusieurs documents correspondent à « ${name} » : ${documents}. Lequel voulez-vous ?`,
    onlyIn: (document) => `Seulement dans ${document} :`,
    nothingDiffers: (one, other) => `Aucune phrase ne diffère entre ${one} et ${other}.`,
    more: (sentences) => `Les premières différences ; ${sentences} autres phrases diffèrent.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Un tableau de ${rows} lignes${rows > shown ? ', dont les premières' : ''} :`,
  },
  es: {
    unknown: (name, nearest) =>
      `No hay ningún documento llamado «${name}».${nearest && ` Los nombres más cercanos son: ${nearest}.`}`,
    several: (name, documents) => `Varios documentos corresponden a «${name}»: ${documents}. ¿Cuál quiere?`,
    onlyIn: (document) => `Solo en ${document}:`,
    nothingDiffers: (one, other) => `Ninguna frase difiere entre ${one} y ${other}.`,
    more: (sentences) => `Las primeras diferencias; difieren ${sentences} frases más.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Una tabla de ${rows} filas${rows > shown ? ', de las que las primeras son' : ''}:`,
  },
  it: {
    unknown: (name, nearest) =>
      `Non c’è alcun documento chiamato «${name}».${nearest && ` I nomi più vicini sono: ${nearest}.`}`,
    several: (name, documents) => `Più documenti corrispondono a «${name}»: ${documents}. Quale intende?`,
    onlyIn: (document) => `Solo in ${document}:`,
    nothingDiffers: (one, other) => `Nessuna frase è diversa tra ${one} e ${other}.`,
    more: (sentences) => `Le prime differenze; altre ${sentences} frasi sono diverse.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Una tabella di ${rows} righe${rows > shown ? ', di cui le prime' : ''}:`,
  },
  nl: {
    unknown: (name, nearest) =>
      `Er is geen document met de naam “${name}”.${nearest && ` De namen die er het meest op lijken zijn: ${nearest}.`}`,
    several: (name, documents) => `Meerdere documenten passen bij “${name}”: ${documents}. Welk bedoel je?`,
    onlyIn: (document) => `Alleen in ${document}:`,
    nothingDiffers: (one, other) => `Geen zin verschilt tussen ${one} en ${other}.`,
    more: (sentences) => `De eerste verschillen; nog ${sentences} zinnen verschillen.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Een tabel van ${rows} rijen${rows > shown ? ', waarvan de eerste' : ''}:`,
  },
  pt: {
    unknown: (name, nearest) =>
      `Não há nenhum documento chamado “${name}”.${nearest && ` Os nomes mais próximos são: ${nearest}.`}`,
    several: (name, documents) => `Vários documentos correspondem a “${name}”: ${documents}. Qual deles?`,
    onlyIn: (document) => `Somente em ${document}:`,
    nothingDiffers: (one, other) => `Nenhuma frase difere entre ${one} e ${other}.`,
    more: (sentences) => `As primeiras diferenças; mais ${sentences} frases diferem.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Uma tabela de ${rows} linhas${rows > shown ? ', das quais as primeiras' : ''}:`,
  },
  pl: {
    unknown: (name, nearest) =>
      `Nie ma dokumentu o nazwie „${name}”.${nearest && ` Najbliższe nazwy to: ${nearest}.`}`,
    several: (name, documents) => `Do „${name}” pasuje kilka dokumentów: ${documents}. Który?`,
    onlyIn: (document) => `Tylko w ${document}:`,
    nothingDiffers: (one, other) => `Żadne zdanie nie różni się między ${one} a ${other}.`,
    more: (sentences) => `Pierwsze różnice; różni się jeszcze ${sentences} zdań.`,
    table: (heading, rows, shown) =>
      `${named(heading)}Tabela, liczba wierszy: ${rows}${rows > shown ? ', pierwsze z nich' : ''}:`,
  },
};

/** The texts of answers about whole documents in a language. */
export function documentTexts(language: Language): DocumentTexts {
  return texts[language];
}
