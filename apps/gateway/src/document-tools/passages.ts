import { addressOf, type RetrievedDocument } from '#platform/contracts';
import { z } from 'zod';

/** A passage in the result of a tool. */
export const passageSchema = z.object({
  document: z.string().optional().describe('Id of the document, for open and find'),
  filename: z.string().optional(),
  title: z.string().optional(),
  heading: z.string().optional(),
  page: z.int().optional(),
  time: z.string().optional().describe('When it is said in a recording, such as 1:23–1:41'),
  passage: z.int().optional().describe('Position in the document, for open'),
  score: z.number(),
  text: z.string(),
  url: z.string().optional(),
});
export type Passage = z.output<typeof passageSchema>;

/** A found passage for the result of a tool. */
export function toPassage(document: RetrievedDocument): Passage {
  const { metadata, text, score } = document;
  const textOf = (name: string) => {
    const value = metadata[name];
    return typeof value === 'string' && value !== '' ? { [name]: value } : {};
  };
  const numberOf = (name: string, key = name) => {
    const value = metadata[name];
    return typeof value === 'number' ? { [key]: value } : {};
  };
  const { document_id: id } = metadata;
  const url = addressOf(document);
  return {
    ...(typeof id === 'string' && { document: id }),
    ...textOf('filename'),
    ...textOf('title'),
    ...textOf('heading'),
    ...numberOf('page'),
    ...textOf('time'),
    ...numberOf('chunk_index', 'passage'),
    score,
    text,
    ...(url !== undefined && { url }),
  };
}

/** Passages as a numbered text for a model, with the ids that further calls need. The numbers continue after `numbered`. */
export function passagesAsText(passages: readonly Passage[], numbered = 0): string {
  if (passages.length === 0) return 'Nothing was found.';
  return passages
    .map((passage, index) => `[${numbered + index + 1}] ${labelOf(passage)}\n${passage.text}`)
    .join('\n\n');
}

function labelOf({ title, filename, heading, page, time, document, passage }: Passage): string {
  // The title of a document is usually its first heading, too.
  const isTitled = title !== undefined && heading?.startsWith(title) === true;
  const name = [isTitled ? undefined : (title ?? filename), heading].filter(Boolean).join(' › ');
  const details = [
    title === undefined ? undefined : filename,
    page === undefined ? undefined : `page ${page}`,
    time,
    document === undefined ? undefined : `document ${document}`,
    passage === undefined ? undefined : `passage ${passage}`,
  ].filter(Boolean);
  return `${name} (${details.join(', ')})`.trimStart();
}
