import type { RetrievedDocument } from '#contracts';
import type { FileSearchResult } from '#responses';
import type { FoundPassage } from '../../../vector-stores/vector-store-search.js';

/** OpenAI's limit of a file's attributes. */
const mostAttributes = 16;

/** What a `file_search_call` shows of a passage. */
export function toSearchResult({ file, passage, score }: FoundPassage): FileSearchResult {
  const { fileId, filename } = file;
  const known = { ...file.attributes, ...placeOf(passage), ...file.attributes };
  const attributes = Object.fromEntries(Object.entries(known).slice(0, mostAttributes));
  return { file_id: fileId, filename, text: passage.text, score, attributes };
}

/** Where the passage stands in its file, in names that the file's own attributes may replace. */
function placeOf({ metadata }: RetrievedDocument): FileSearchResult['attributes'] {
  const { chunk_index: index, page } = metadata;
  return {
    ...(typeof index === 'number' && { chunk_index: index }),
    ...(typeof page === 'number' && { page }),
  };
}

/** A passage as answers are grounded on it: what it cites is the file. */
export function toDocument({ file, passage, score }: FoundPassage): RetrievedDocument {
  const { fileId, filename } = file;
  return { ...passage, score, metadata: { ...passage.metadata, document_id: fileId, filename } };
}

/**
 * The passages that a model is shown, best first: as many as `maxWords` hold, but at least one, so that a long result
 * does not push the conversation out of its window.
 */
export function withinWords(found: readonly FoundPassage[], maxWords: number): FoundPassage[] {
  let words = 0;
  const first = found.findIndex(({ passage }, index) => {
    words += passage.text.split(/\s+/).length;
    return words > maxWords && index > 0;
  });
  return first === -1 ? [...found] : found.slice(0, first);
}

/** The passages as the model reads them, counted on from `numbered`. */
export function numberedPassages(found: readonly FoundPassage[], numbered: number): string {
  if (found.length === 0) return 'Nothing was found.';
  return found
    .map(({ file, passage }, index) => `[${numbered + index + 1}] ${file.filename}\n${passage.text}`)
    .join('\n\n');
}
