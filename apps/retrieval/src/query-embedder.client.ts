import { decodeVectors, embed, MegaNestError } from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Asks the embedding service for the vector of a question. Errors: service_unavailable that names it. */
@Injectable()
export class QueryEmbedder {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** A question longer than the model's window is cut, not refused. */
  async embed(text: string, options: CallOptions): Promise<Float32Array> {
    const { vectors, dimensions } = await this.client.request(
      embed,
      { inputs: [text], truncate: true },
      options,
    );
    const [vector] = decodeVectors(vectors, dimensions);
    if (vector) return vector;
    throw new MegaNestError('bad_upstream', { service: 'embedding', detail: 'it answered without a vector' });
  }
}
