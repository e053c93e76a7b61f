import type { Neighbour, RetrievedDocument } from '#platform/contracts';
import { continuesBlock, headingsOf, partsOf, Sections, type PartKind } from '#answers/evidence';
import { sentencesOf } from '#platform/foundation';

/**
 * A part of a passage that may be quoted: a sentence, an item of a list, a row of a table, or a whole block of code.
 */
export interface Sentence {
  readonly text: string;
  readonly kind: PartKind;
  /** Number of its passage, from 1, in the order of the search. */
  readonly passage: number;
  readonly documentId: string;
  /** Index among the sentences of its passage. */
  readonly index: number;
  /** Index of its block in the passage. */
  readonly block: number;
}

/** A passage for the reader. */
export interface ReadPassage {
  readonly documentId: string;
  /** Its document's title and the headings above it. */
  readonly heading: string;
  /** The same headings as a list, the outermost first. */
  readonly headings: readonly string[];
  /** The title of its document; empty without one. */
  readonly title: string;
  /** The name of its document, without an extension. */
  readonly document: string;
  /** It is below a heading of its document. */
  readonly isOutlined: boolean;
  readonly sentences: readonly Sentence[];
  /** The sentences of its section in their order, as far as they are known: its own ones among them. */
  readonly section: readonly Sentence[];
}

/**
 * Splits the passages of a search into sentences, and adds the sentences of their neighbours. Passages without text
 * have no sentences.
 */
export function readPassages(
  documents: readonly RetrievedDocument[],
  neighbours: readonly Neighbour[] = [],
): ReadPassage[] {
  const sections = new Sections([...neighbours, ...documents]);
  return documents.map((document, index) => {
    const { id, metadata } = document;
    const passage = index + 1;
    const sentences = sentencesOfChunk(document, { passage, firstBlock: 0 });
    const headings = headingsOf(document);
    let section: Sentence[] | undefined;
    return {
      documentId: id,
      heading: headings.join(' > '),
      headings,
      title: typeof metadata['title'] === 'string' ? metadata['title'] : '',
      document: documentName(metadata),
      isOutlined: typeof metadata['heading'] === 'string' && metadata['heading'] !== '',
      sentences,
      // Few passages are shown, and a section may be a large table.
      get section() {
        return (section ??= sectionOf(document, sentences, { passage, around: sections.around(document) }));
      },
    };
  });
}

function sentencesOfChunk(
  chunk: Neighbour,
  { passage, firstBlock }: { passage: number; firstBlock: number },
): Sentence[] {
  const sentences: Sentence[] = [];
  for (const [block, { text, kind }] of partsOf(chunk).entries()) {
    const parts = kind === 'code' ? [text] : sentencesOf(text);
    for (const one of parts) {
      const index = sentences.length;
      sentences.push({ text: one, kind, passage, documentId: chunk.id, index, block: firstBlock + block });
    }
  }
  return sentences;
}

/** More blocks than a chunk has. */
const blocksPerChunk = 10_000;

/** The sentences of the chunks around a passage. Chunks that continue a block of the chunk before share its number. */
function sectionOf(
  document: RetrievedDocument,
  own: readonly Sentence[],
  { passage, around }: { passage: number; around: readonly Neighbour[] },
): Sentence[] {
  const at = around.indexOf(document);
  const chunks = around.map((chunk, index) =>
    index === at ? own : sentencesOfChunk(chunk, { passage, firstBlock: (index - at) * blocksPerChunk }),
  );
  const section = chunks.flat();
  for (const [index, chunk] of around.entries()) {
    const before = chunks[index - 1]?.at(-1);
    const first = chunks[index]![0];
    if (!before || !first || !continuesBlock(chunk) || before.kind !== first.kind) continue;
    // The own sentences keep their numbers, because rankings compare them.
    const [from, to] = index === at ? [before.block, first.block] : [first.block, before.block];
    for (const [place, sentence] of section.entries())
      if (sentence.block === from) section[place] = { ...sentence, block: to };
  }
  return section;
}

/** The file name without its extension and without the section number of a manual page. */
function documentName({ filename }: Readonly<Record<string, unknown>>): string {
  return typeof filename === 'string' ? filename.replace(/\.[^.\s]{1,5}$/, '').replace(/\.\d$/, '') : '';
}

/** A sentence with its context. */
export interface Candidate {
  readonly sentence: Sentence;
  /** Heading to show before the sentence as its subject; empty where the subject is clear. */
  readonly lead: string;
  /** Text to read and to show: the lead and the sentence. */
  readonly text: string;
  /** The term that its passage explains, e.g. in a list of options; empty in other passages. */
  readonly term: string;
  /** The term, or the name in the row of its table; empty without either. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly heading: string;
  /** The innermost heading as it is shown: with the one above it, where it alone does not say what it is about. */
  readonly label: string;
  /** The name of its document, without an extension. */
  readonly document: string;
  /** Its passage is below a heading of its document. */
  readonly isOutlined: boolean;
  /** The whole passage, its headings included. */
  readonly passage: string;
}

/** A few words without an end, a number or a colon, such as a heading; or only an address. */
export function isLabel({ kind, text }: Sentence): boolean {
  if (/^(?:[\p{L} ]{1,20}:\s*)?https?:\S+$/u.test(text)) return true;
  return kind === 'paragraph' && text.split(/\s+/).length <= 5 && !/[.!?…:;。！？)"”\p{N}]/u.test(text);
}

/** The innermost of headings joined by ` > `, without its number. */
export function lastHeading(heading: string): string {
  return (heading.split(' > ').at(-1) ?? '').replace(/^(?:\d+\.)*\d*[.)]?\s+(?=\p{L})/u, '');
}
