import { describeEmbeddingModel, embeddingModelName, MegaNestError } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { DocumentsRepository } from '#platform/storage';
import { Inject, Injectable, Logger } from '@nestjs/common';

/** Lifetime of the name of the served model. */
const modelLifeMs = 5_000;
const describeTimeoutMs = 2_000;

/** Compares the served embedding model with the models of the stored vectors: vectors of two models cannot be compared. */
@Injectable()
export class EmbeddingModelCheck {
  readonly #logger = new Logger('embedding-model');
  #served: string | undefined;
  #asking: Promise<void> | undefined;
  #askedAt = -Infinity;
  #logged: string | undefined;

  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(DocumentsRepository) private readonly documents: DocumentsRepository,
  ) {}

  /** A sentence on the documents of other models; undefined if all documents are of the served model. Logs a new one. */
  async warning(): Promise<string | undefined> {
    const model = await this.served();
    const others = model === undefined ? [] : await this.documents.otherModels(model);
    const warning = others.length > 0 ? describe(model!, others) : undefined;
    if (warning !== undefined && warning !== this.#logged) this.#logger.warn(warning);
    this.#logged = warning;
    return warning;
  }

  /** The name of the served model; at most {@link modelLifeMs} old, an older one while the service does not answer. */
  async served(): Promise<string | undefined> {
    if (performance.now() - this.#askedAt >= modelLifeMs) {
      this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
      await this.#asking;
    }
    return this.#served;
  }

  async #ask(): Promise<void> {
    try {
      const deadline = Date.now() + describeTimeoutMs;
      this.#served = embeddingModelName(await this.client.request(describeEmbeddingModel, {}, { deadline }));
    } catch (error) {
      if (!(error instanceof MegaNestError)) throw error;
    }
    // A service that starts later than this one is asked again at once.
    if (this.#served !== undefined) this.#askedAt = performance.now();
  }
}

function describe(served: string, others: Awaited<ReturnType<DocumentsRepository['otherModels']>>): string {
  const found = others.map(
    ({ model, documents, collections }) =>
      `${documents} documents of ${collections.join(', ')} have vectors of ${model}`,
  );
  return `The embedding model is ${served}, but ${found.join('; ')}. Their collections are searched by words only. Run "npm run reembed" (POST /v1/dataprep/reembed) to embed them again, or set EMBEDDING_MODEL_ID to their model.`;
}
