import {
  embed,
  encodeVectors,
  invalidField,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { loadEmbedder, type Embedder, type EmbedOptions } from '#engine/encoders';
import { openRemoteEmbedder } from '#engine/remote-engines';
import {
  announceModel,
  baseEnvironmentSchema,
  chosenWeights,
  HealthRegistry,
  loadProfile,
  Metrics,
  modelOptions,
  portSchema,
  weightsSchema,
} from '#platform/service-kit';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { z } from 'zod';

export const embeddingEnvironmentSchema = baseEnvironmentSchema.extend({
  EMBEDDING_PORT: portSchema.default(6000),
  /** A bundled name, a local directory or a hub id; default: the profile's model. */
  EMBEDDING_MODEL_ID: z.string().optional(),
  /** Precision of the weights of a local model. */
  EMBEDDING_WEIGHTS: weightsSchema,
  /** Put in front of each query and each document before it is embedded; default: what the model's files name. */
  EMBEDDING_QUERY_PREFIX: z.string().optional(),
  EMBEDDING_DOCUMENT_PREFIX: z.string().optional(),
  /** A Text Embeddings Inference server to use in place of a local model. */
  TEI_EMBEDDING_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type EmbeddingEnvironment = z.infer<typeof embeddingEnvironmentSchema>;

/** Injection token of the loaded model. */
export const embedderToken = Symbol('embedder');

/** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
export async function openEmbedder(environment: EmbeddingEnvironment): Promise<Embedder> {
  const { TEI_EMBEDDING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  const { EMBEDDING_QUERY_PREFIX: query, EMBEDDING_DOCUMENT_PREFIX: document } = environment;
  const prefixes = { ...(query !== undefined && { query }), ...(document !== undefined && { document }) };
  const compiledWeights = chosenWeights('EMBEDDING_WEIGHTS', environment.EMBEDDING_WEIGHTS, {
    endpoint,
    device: environment.DEVICE,
  });
  if (endpoint) return openRemoteEmbedder({ endpoint, apiKey, prefixes });
  const profile = loadProfile(environment.MEGANEST_PROFILE);
  return announceModel(
    await loadEmbedder(environment.EMBEDDING_MODEL_ID ?? profile.embedding.model, {
      ...modelOptions(environment, profile, environment.EMBEDDING_MODEL_ID),
      prefixes,
      compiledWeights,
    }),
  );
}

/** A request with more inputs is bulk work: a chat embeds a question or two. */
const maxInteractiveInputs = 32;

type EmbedRequest = ParsedRequestOf<typeof embed>;
type EmbedReply = ReplyOf<typeof embed>;

/** Embeds texts, for requests over HTTP and NATS. */
@Injectable()
export class EmbeddingService implements OnApplicationShutdown {
  constructor(
    @Inject(embedderToken) private readonly embedder: Embedder,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('model', async (signal) => {
      await this.embedder.embed(['health'], { signal });
      return this.embedder.info.id;
    });
  }

  get model(): ModelInfo {
    return this.embedder.info;
  }

  /** Errors: context_length_exceeded; overloaded; invalid_request for more `dimensions` than the model has. */
  embed(
    request: EmbedRequest,
    { signal, priority = 'interactive' }: Pick<EmbedOptions, 'signal' | 'priority'>,
  ): Promise<EmbedReply> {
    const { inputs, truncate, input_type: inputType } = request;
    return this.metrics.measure('embed', async () => {
      const { vectors, promptTokens } = await this.embedder.embed(inputs, {
        truncate,
        inputType,
        signal,
        priority: inputs.length > maxInteractiveInputs ? 'bulk' : priority,
      });
      this.metrics.countTokens('prompt', promptTokens);
      const { dimensions: width } = request;
      const cut = width ? vectors.map((vector) => shorten(vector, width)) : vectors;
      const dimensions = cut[0]?.length ?? 0;
      return { model: this.embedder.info.id, dimensions, vectors: encodeVectors(cut), promptTokens };
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.embedder.close();
  }
}

/** Truncates a vector to `dimensions` and normalizes it. Errors: invalid_request for more than its dimensions. */
function shorten(vector: Float32Array, dimensions: number): Float32Array {
  if (dimensions > vector.length) {
    throw invalidField(
      'dimensions',
      `the model's vectors have ${vector.length} dimensions, but the request asks for ${dimensions}`,
    );
  }
  const cut = vector.slice(0, dimensions);
  const length = Math.hypot(...cut) || 1;
  return cut.map((value) => value / length);
}
