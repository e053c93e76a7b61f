import type { Citation, RetrievedDocument } from '#platform/contracts';
import { citationAnnotations, type CitationAnnotation } from '#api/openai-api';
import type { AttachedSource } from '../request/attached-sources.js';
import type { MessageCitation } from './message-events.js';

/**
 * Citations in Anthropic's forms: of a document in the request by its characters, pages or blocks, if the client asks
 * for them; of a passage that a search found as a search result.
 */
export function messageCitations(
  citations: readonly Citation[],
  documents: readonly RetrievedDocument[],
  sources: readonly AttachedSource[],
): MessageCitation[] {
  return citationAnnotations(citations, documents).flatMap(({ url_citation: cited }) => {
    const source = sources.find(({ filename }) => filename === cited.filename);
    if (!source) return [foundCitation(cited)];
    return source.isCited ? [attachedCitation(cited, source)] : [];
  });
}

type Cited = CitationAnnotation['url_citation'];

function foundCitation({ quote, passage, url, title }: Cited): MessageCitation {
  return {
    type: 'search_result_location',
    cited_text: quote,
    search_result_index: passage - 1,
    source: url,
    title,
    start_block_index: 0,
    end_block_index: 1,
  };
}

function attachedCitation(cited: Cited, source: AttachedSource): MessageCitation {
  const { quote, page } = cited;
  const { texts } = source;
  if (source.kind === 'search_result') {
    const { index, title, source: address } = source;
    const head = { type: 'search_result_location', cited_text: quote, search_result_index: index };
    return { ...head, source: address, title, ...blocksOf(texts ?? [], quote) };
  }
  const head = {
    cited_text: quote,
    document_index: source.index,
    document_title: source.title,
    file_id: null,
  };
  if (source.hasBlocks) return { ...head, type: 'content_block_location', ...blocksOf(texts ?? [], quote) };
  if (texts || page === undefined) return { ...head, type: 'char_location', ...charactersOf(texts, cited) };
  return { ...head, type: 'page_location', start_page_number: page, end_page_number: page + 1 };
}

/** The block with the quote; the end is exclusive. */
function blocksOf(texts: readonly string[], quote: string) {
  const found = texts.findIndex((text) => placeIn(text, quote) !== undefined);
  const start = Math.max(0, found);
  return { start_block_index: start, end_block_index: start + 1 };
}

/** The place of the quote in the text of the document; in its passage where that is not known of a file. */
function charactersOf(texts: readonly string[] | undefined, cited: Cited) {
  const { quote, quote_start: start = 0, quote_end: end = start + quote.length } = cited;
  const { document_start: first, document_end: last } = cited;
  const inFile = first === null || last === null ? undefined : { start: first, end: last };
  const place = placeIn(texts?.[0] ?? '', quote) ?? inFile ?? { start, end };
  return { start_char_index: place.start, end_char_index: place.end };
}

/** The place of a quote in a text, whose white space may differ. */
function placeIn(text: string, quote: string): { start: number; end: number } | undefined {
  const words = quote
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  const match = new RegExp(words.join(String.raw`\s+`)).exec(text);
  return match ? { start: match.index, end: match.index + match[0].length } : undefined;
}
