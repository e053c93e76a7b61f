import { retrievedDocumentSchema, type RetrievedDocument } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import { z } from 'zod';

const passages = z.array(retrievedDocumentSchema.omit({ similarity: true }));

/** What {@link documentsAnswer} gives, for the OpenAPI document. */
export const documentsAnswerSchema = z.object({
  id: z.string(),
  initial_query: z.string(),
  reranked_docs: passages.optional(),
  retrieved_docs: passages.optional(),
});

/** The reference's answer of its retrieval tool: passages with scores, named after the step that ordered them. */
export function documentsAnswer(
  documents: readonly RetrievedDocument[],
  { nodes, output }: MegaServiceDefinition,
  { id, query }: { id: string; query: string },
): z.input<typeof documentsAnswerSchema> {
  const found = documents.map(({ id: passage, text, score, metadata }) => ({
    id: passage,
    text,
    score,
    metadata,
  }));
  const reranked = nodes.get(output)?.target.service === 'reranking';
  return { id, initial_query: query, [reranked ? 'reranked_docs' : 'retrieved_docs']: found };
}
