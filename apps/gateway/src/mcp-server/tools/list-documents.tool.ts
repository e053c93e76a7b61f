import { storedDocumentSchema, type StoredDocument } from '#platform/contracts';
import { collectionField, type Dataprep } from '#api/dataprep-api';
import { z } from 'zod';
import { defineTool, readsOnly, type McpTool } from '../../document-tools/mcp-tool.js';

const input = z.strictObject({
  collection: collectionField.describe('Collection of documents; absent: all of them'),
  search: z.string().min(1).max(255).optional().describe('Part of a file name'),
  offset: z.int().min(0).max(1_000_000).default(0),
  limit: z.int().min(1).max(200).default(50),
});

/** The tool `list_documents`. */
export function listDocumentsTool(dataprep: Dataprep): McpTool {
  return defineTool({
    name: 'list_documents',
    title: 'List documents',
    description:
      'Lists the ingested documents, newest first, with the ids for open and find, and the collections.',
    input,
    output: z.object({
      documents: z.array(storedDocumentSchema),
      collections: z.array(z.string()),
      has_more: z.boolean(),
    }),
    annotations: readsOnly,
    scope: 'read',
    run: async ({ limit, ...which }) => {
      const [listed, collections] = await Promise.all([
        dataprep.list({ ...which, limit: limit + 1 }),
        dataprep.collections(),
      ]);
      const documents = listed.slice(0, limit);
      const hasMore = listed.length > limit;
      return { text: asText(documents, hasMore), structured: { documents, collections, has_more: hasMore } };
    },
  });
}

function asText(documents: readonly StoredDocument[], hasMore: boolean): string {
  if (documents.length === 0) return 'There are no documents.';
  const lines = documents.map(
    ({ id, filename, collection, chunks }) =>
      `${filename} (document ${id}, collection ${collection}, ${chunks} passages)`,
  );
  return [...lines, ...(hasMore ? ['There are further documents: raise offset.'] : [])].join('\n');
}
