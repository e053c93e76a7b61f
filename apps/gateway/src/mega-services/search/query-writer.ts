import { MegaNestError, writeSearchQueries, type ChatMessage } from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../models/model-catalog.js';
import { MissPause } from './miss-pause.js';

/** The queries of a language model. */
export interface WrittenQueries {
  /** The most important one first; empty if the model writes none, or if there is a problem. */
  readonly queries: readonly string[];
  /** Why there is no answer: the code of an error, or a description. */
  readonly problem?: string;
}

/** What queries are written from. */
interface Dialogue {
  readonly messages: readonly ChatMessage[];
  /** Languages of the documents, where known. */
  readonly languages?: readonly string[];
}

/** Share of the remaining time for the model. */
const shareOfTime = 1 / 4;
/** Time limit for the description of the model. */
const describeMs = 1_000;

/** Lets a language model write search queries, within a strict time limit. */
@Injectable()
export class QueryWriter {
  readonly #pause = new MissPause();

  constructor(
    @Inject(RpcClient) private readonly client: Pick<RpcClient, 'request'>,
    @Inject(ModelCatalog) private readonly models: Pick<ModelCatalog, 'llm'>,
  ) {}

  /**
   * The model's queries for the last message. Never rejects. Neither queries nor a problem if the model does not write,
   * or is unavailable. The call ends at its limit, also in the engine.
   */
  async write({ messages, languages = [] }: Dialogue, options: CallOptions): Promise<WrittenQueries> {
    const leftMs = ((options.deadline ?? Infinity) - Date.now()) * shareOfTime;
    const within = (limitMs: number): CallOptions => {
      const deadline = Date.now() + Math.max(0, Math.min(limitMs, leftMs));
      return { ...options, patience: undefined, deadline };
    };
    const info = await this.models.llm(within(describeMs)).catch(() => undefined);
    if (!info?.searchQueriesWithinMs) return { queries: [] };
    if (!this.#pause.admits(info.id)) return { queries: [], problem: 'paused' };
    try {
      // The images would be too large for a message, and a query is a text.
      const texts = messages.map(({ images: _images, files: _files, ...message }) => message);
      const limits = within(info.searchQueriesWithinMs);
      const request = { messages: texts, ...(languages.length > 0 && { languages: [...languages] }) };
      const { queries, problem } = await this.client.request(writeSearchQueries, request, limits);
      this.#pause.hit(info.id);
      return problem ? { queries: [], problem } : { queries };
    } catch (error) {
      const { code } = MegaNestError.from(error, 'llm');
      // A request with little time left does not show that the model is slow.
      const hadItsTime = leftMs >= info.searchQueriesWithinMs;
      if (code === 'deadline_exceeded' && hadItsTime) this.#pause.miss(info.id);
      return { queries: [], problem: code };
    }
  }
}
