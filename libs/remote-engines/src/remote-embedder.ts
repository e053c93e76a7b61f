import { z } from 'zod';
import type { Embedder, Embeddings, EmbedOptions } from '#encoders';
import type { RemoteOptions } from './remote-server.js';
import { TeiServer } from './text-embeddings-inference.js';

const schema = z.array(z.array(z.number()));

/** Embeds on a Text Embeddings Inference server. Errors: service_unavailable, bad_upstream when it is none. */
export async function openRemoteEmbedder(options: RemoteOptions): Promise<Embedder> {
  const server = await TeiServer.open('embedding', options);
  const { vectors } = await embed(server, ['dimensions']);
  const dimensions = vectors[0]?.length ?? 0;
  return {
    info: { ...server.info, dimensions },
    embed: (inputs, given) => embed(server, inputs, given),
    close: () => Promise.resolve(),
  };
}

async function embed(
  server: TeiServer,
  inputs: readonly string[] | readonly (readonly number[])[],
  { truncate = false, signal }: EmbedOptions = {},
): Promise<Embeddings> {
  const items: readonly (string | readonly number[])[] = inputs;
  const body = (batch: readonly (string | readonly number[])[]) => ({
    inputs: batch,
    truncate,
    normalize: true,
  });
  const { answers, promptTokens } = await server.inBatches('/embed', items, body, { schema, signal });
  return { vectors: answers.flat().map((vector) => Float32Array.from(vector)), promptTokens };
}
