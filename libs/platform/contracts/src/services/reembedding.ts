import { z } from 'zod';
import { defineMethod, type ModelInfo } from './method.js';

/**
 * The name under which the model of a document's vectors is stored: id, revision, and the prefix of documents, since
 * each of them changes the vectors.
 */
export function embeddingModelName({
  id,
  revision,
  prefixes,
}: Pick<ModelInfo, 'id' | 'revision' | 'prefixes'>): string {
  const prefix = prefixes?.document ? ` with the prefix ${JSON.stringify(prefixes.document)}` : '';
  return `${id}@${revision}${prefix}`;
}

/** Progress of embedding stored documents again. */
export const reembeddingStateSchema = z.object({
  model: z.string().describe('The served embedding model'),
  running: z.boolean(),
  done: z.int().describe('Documents that this run has embedded'),
  left: z.int().describe('Documents with vectors of other models'),
  problems: z.array(z.string()).describe('Documents that could not be embedded, and why'),
});
export type ReembeddingState = z.infer<typeof reembeddingStateSchema>;

/** `dataprep.start-reembedding`: embeds documents of other models again in the background. Errors: service_unavailable. */
export const startReembedding = reembeddingMethod('start-reembedding');

/** `dataprep.reembedding`: its progress. Errors: service_unavailable. */
export const readReembedding = reembeddingMethod('reembedding');

function reembeddingMethod(method: string) {
  return defineMethod({ service: 'dataprep', method, request: z.object({}), reply: reembeddingStateSchema });
}
