import { invalidField, maxPosition, type RetrievedDocument, type StoredChunk } from '#platform/contracts';
import { renderChunks } from '#answers/evidence';
import { z } from 'zod';
import { withAddresses } from '../mega-services/page-address.js';
import type { DocumentReader } from './document-reader.js';
import { wholeSections } from './sections.js';
import { defineTool, readsOnly, type McpTool } from './mcp-tool.js';

/** Passages that are read before and after a range to find the borders of its sections. */
const reach = 200;

const position = z.int().min(0).max(maxPosition);
const input = z.strictObject({
  document: z.string().min(1).describe('Id or file name of the document'),
  from: position.default(0).describe('First passage'),
  to: position.optional().describe('Last passage; absent: the section of the first one'),
  max_characters: z.int().min(200).max(200_000).default(20_000),
});

const output = z.object({
  document: z.string(),
  filename: z.string(),
  from: z.int(),
  to: z.int(),
  passages: z.int().describe('Passages of the whole document'),
  headings: z.array(z.string()),
  text: z.string(),
  next: z.int().optional().describe('The passage to go on with; absent at the end of the document'),
});

/** The tool `open`. */
export function openTool(documents: DocumentReader): McpTool {
  return defineTool({
    name: 'open',
    title: 'Open a document',
    description:
      'Reads a document from one passage to another one as text, widened to whole sections. Without a range it reads the ' +
      'first section; next says where to go on.',
    input,
    output,
    annotations: readsOnly,
    scope: 'read',
    run: async ({ document: name, from, to = from, max_characters }, { call: { origin }, numbered }) => {
      if (to < from) throw invalidField('to', 'must not be before from');
      const { id, filename, chunks: total } = await documents.find(name);
      if (from >= total)
        throw invalidField('from', `the document has ${total} passages, from 0 to ${total - 1}`);
      const known = await documents.read(id, Math.max(0, from - reach), Math.min(to, total) + reach);
      const chunks = wholeSections(known, { from, to }, max_characters);
      const headings = [...new Set(chunks.map(({ metadata: { heading } }) => heading))];
      const last = chunks.at(-1)?.index ?? from;
      const text = renderChunks(chunks);
      const structured: z.output<typeof output> = {
        document: id,
        filename,
        from: chunks[0]?.index ?? from,
        to: last,
        passages: total,
        headings: headings.filter((heading) => typeof heading === 'string'),
        text,
        ...(last + 1 < total && { next: last + 1 }),
      };
      // A number is only of use to a model whose citations are checked.
      const number = numbered === undefined ? '' : `[${numbered + 1}] `;
      const cited = withAddresses(
        chunks.slice(0, 1).map((chunk) => asCited(chunk, structured)),
        origin,
      );
      return { text: `${number}${lineOf(structured)}\n\n${text}`, structured, documents: cited };
    },
  });
}

/** What was opened, as one passage to cite. */
function asCited(
  { id, metadata }: StoredChunk,
  { document, filename, text }: z.output<typeof output>,
): RetrievedDocument {
  // The offsets are those of the first chunk.
  const { page_breaks: _breaks, time_breaks: _times, places: _places, ...rest } = metadata;
  return { id, text, score: 0, metadata: { ...rest, document_id: document, filename } };
}

function lineOf({ filename, headings, from, to, passages, next }: z.output<typeof output>): string {
  const name = [filename, headings.join('; ')].filter(Boolean).join(' › ');
  const rest = next === undefined ? 'the end of the document' : `the next one is ${next}`;
  return `${name} (passages ${from} to ${to} of ${passages}, ${rest})`;
}
