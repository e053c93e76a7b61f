import { embed, encodeVectors, invalidField, type ParsedRequestOf, type ReplyOf } from '#platform/contracts';
import type { Embedder, EmbedOptions } from '#engine/encoders';
import { Metrics, ServedModel } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';

/** A request with more inputs is bulk work: a chat embeds a question or two. */
const maxInteractiveInputs = 32;

type EmbedRequest = ParsedRequestOf<typeof embed>;
type EmbedReply = ReplyOf<typeof embed>;

/** Embeds texts, for requests over HTTP and NATS. */
@Injectable()
export class EmbeddingService {
  constructor(
    @Inject(ServedModel) private readonly served: ServedModel<Embedder>,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** The name of the model. */
  get modelId(): string {
    return this.served.id;
  }

  /** Errors: context_length_exceeded; overloaded; invalid_request for more `dimensions` than the model has. */
  embed(
    request: EmbedRequest,
    { signal, priority = 'interactive' }: Pick<EmbedOptions, 'signal' | 'priority'>,
  ): Promise<EmbedReply> {
    const { inputs, truncate, input_type: inputType } = request;
    return this.metrics.measure('embed', async () => {
      const { vectors, promptTokens } = await this.served.model.embed(inputs, {
        truncate,
        inputType,
        signal,
        priority: inputs.length > maxInteractiveInputs ? 'bulk' : priority,
      });
      this.metrics.countTokens('prompt', promptTokens);
      const { dimensions: width } = request;
      const cut = width ? vectors.map((vector) => shorten(vector, width)) : vectors;
      const dimensions = cut[0]?.length ?? 0;
      return { model: this.served.id, dimensions, vectors: encodeVectors(cut), promptTokens };
    });
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
