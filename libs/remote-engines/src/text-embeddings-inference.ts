import type { ModelInfo } from '#contracts';
import { z } from 'zod';
import { RemoteServer, type RemoteOptions } from './remote-server.js';

const infoSchema = z.looseObject({
  model_id: z.string(),
  model_sha: z.string().nullish(),
  max_input_length: z.int().optional(),
  max_client_batch_size: z.int().min(1).optional(),
  /** `{embedding: …}`, `{reranker: …}` or this. */
  model_type: z
    .looseObject({ classifier: z.looseObject({ id2label: z.record(z.string(), z.string()) }).optional() })
    .optional()
    .catch(undefined),
});

/** How many inputs TEI takes at once unless it says otherwise. */
const defaultBatchSize = 32;

/** A connection to a Text Embeddings Inference server. */
export class TeiServer {
  private constructor(
    readonly info: ModelInfo,
    /** Of a classifier, in the model's order. */
    readonly labels: readonly string[] | undefined,
    private readonly server: RemoteServer,
    /** Most inputs of one request. */
    readonly batchSize: number,
  ) {}

  /** Asks the server what it serves. Errors: service_unavailable, bad_upstream. */
  static async open(service: string, options: RemoteOptions): Promise<TeiServer> {
    const server = new RemoteServer(service, options);
    const info = await server.json({ path: '/info' }, infoSchema);
    const model: ModelInfo = {
      id: info.model_id,
      revision: (info.model_sha ?? 'unknown').slice(0, 12),
      backend: 'tei',
      maxInputTokens: info.max_input_length ?? 512,
      created: Math.floor(Date.now() / 1000),
    };
    const named = Object.entries(info.model_type?.classifier?.id2label ?? {});
    const labels = named.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, label]) => label);
    return new TeiServer(
      model,
      labels.length > 0 ? labels : undefined,
      server,
      info.max_client_batch_size ?? defaultBatchSize,
    );
  }

  /** Sends the items in as many requests as the server's limit asks for, one after the other; answers in order. */
  async inBatches<Item, Schema extends z.ZodType<readonly unknown[]>>(
    path: string,
    items: readonly Item[],
    request: (batch: readonly Item[]) => unknown,
    answer: { readonly schema: Schema; readonly signal?: AbortSignal },
  ): Promise<{ answers: z.output<Schema>[]; promptTokens: number }> {
    const answers: z.output<Schema>[] = [];
    let promptTokens = 0;
    for (let start = 0; start < items.length; start += this.batchSize) {
      const batch = items.slice(start, start + this.batchSize);
      const { schema, signal } = answer;
      const response = await this.server.send({ path, body: request(batch), signal });
      promptTokens += Number(response.headers.get('x-compute-tokens')) || 0;
      const rows = await this.server.parse(response, schema, signal);
      if (rows.length !== batch.length)
        throw this.server.unexpected(`its engine sent ${rows.length} results for ${batch.length} inputs`);
      answers.push(rows);
    }
    return { answers, promptTokens };
  }
}
