import {
  failedDocumentSchema,
  ingestedDocumentSchema,
  ingestParametersSchema,
  invalidField,
  linkSchema,
  MegaNestError,
  nameSchema,
  type IngestProgress,
} from '#platform/contracts';
import { cleanFilename, collectionField, maxIngestMs, type Dataprep } from '#api/dataprep-api';
import type { ObjectStore } from '#platform/messaging';
import { withinDeadline } from '#platform/service-kit';
import { z } from 'zod';
import { defineTool, type McpTool, type McpToolContext } from '../../document-tools/mcp-tool.js';

/** Milliseconds between two reports of the progress. */
const progressEveryMs = 500;

const input = z.strictObject({
  text: z.string().min(1).optional().describe('Text of a document'),
  filename: nameSchema(255).default('text.txt').describe('Its name; a document of this name is replaced'),
  links: z.array(linkSchema).max(100).optional().describe('Addresses of documents to read'),
  collection: collectionField.describe('Collection of documents; absent: the default one'),
  metadata: ingestParametersSchema.shape.metadata,
});

/** The tool `ingest`. */
export function ingestTool(dataprep: Dataprep, objects: Pick<ObjectStore, 'put' | 'discard'>): McpTool {
  return defineTool({
    name: 'ingest',
    title: 'Ingest documents',
    description:
      'Stores a text, or the documents at links, so that search, ask and the mega services find them.',
    input,
    output: z.object({
      documents: z.array(ingestedDocumentSchema),
      failed: z.array(failedDocumentSchema).optional(),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    scope: 'write',
    run: async ({ text, filename, links = [], ...parameters }, context) => {
      if (text === undefined && links.length === 0) throw invalidField('text', 'send a text or links');
      const description = { filename: cleanFilename(filename), mimeType: 'text/plain' };
      const files =
        text === undefined ? [] : [await objects.put(new TextEncoder().encode(text), description)];
      try {
        const request = { ...parameters, files, links, progressEveryMs };
        const { documents = [], failed } = await lastOf(request, dataprep, context);
        const structured = { documents, ...(failed && { failed }) };
        return { text: asText(structured), structured, ...(documents.length === 0 && { isError: true }) };
      } finally {
        await objects.discard(files);
      }
    },
  });
}

/** Ingests as long as there is progress. Errors: the errors of `dataprep.ingest`, deadline_exceeded. */
async function lastOf(
  request: Parameters<Dataprep['ingest']>[0],
  dataprep: Dataprep,
  { call, progress }: McpToolContext,
): Promise<IngestProgress> {
  const deadline = Date.now() + maxIngestMs;
  let steps = 0;
  let last: IngestProgress | undefined;
  for await (const event of withinDeadline(call, (signal) =>
    dataprep.ingest(request, { ...call, signal, deadline }),
  )) {
    last = event;
    progress({
      progress: (steps += 1),
      message: `${event.stage} ${event.filename}: ${event.completed}/${event.total}`,
    });
  }
  if (last?.documents) return last;
  throw new MegaNestError('internal_error', {
    service: 'dataprep',
    detail: 'the ingest ended without a result',
  });
}

function asText({
  documents,
  failed = [],
}: {
  documents: NonNullable<IngestProgress['documents']>;
  failed?: IngestProgress['failed'];
}): string {
  const stored = documents.map(
    ({ filename, documentId, chunks, outcome }) =>
      `${filename}: ${outcome} (document ${documentId}, ${chunks} passages)`,
  );
  return [...stored, ...failed.map(({ filename, error }) => `${filename}: ${error.message}`)].join('\n');
}
