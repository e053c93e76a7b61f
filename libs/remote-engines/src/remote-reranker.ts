import { z } from 'zod';
import type { Reranker } from '#encoders';
import type { RemoteOptions } from './remote-server.js';
import { TeiServer } from './text-embeddings-inference.js';

const schema = z.array(z.object({ index: z.int().min(0), score: z.number() }));

/** Reranks on a Text Embeddings Inference server. Errors: service_unavailable, bad_upstream when it is none. */
export async function openRemoteReranker(options: RemoteOptions): Promise<Reranker> {
  const server = await TeiServer.open('reranking', options);
  return {
    info: server.info,
    async rerank(query, texts, { truncate = true, signal } = {}) {
      const body = (batch: readonly string[]) => ({ query, texts: batch, truncate, raw_scores: false });
      const { answers, promptTokens } = await server.inBatches('/rerank', texts, body, { schema, signal });
      return { scores: answers.flatMap(inInputOrder), promptTokens };
    },
    close: () => Promise.resolve(),
  };
}

/** TEI sends the best first. */
function inInputOrder(ranks: z.output<typeof schema>): number[] {
  return ranks.toSorted((a, b) => a.index - b.index).map(({ score }) => score);
}
