import { listCollections } from '#contracts';
import { RpcClient } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** A collection of documents, as far as an assistant may speak of it. */
export interface Shelf {
  readonly name: string;
  readonly documents: number;
}

/** What is known is asked for again after so long. */
const freshMs = 10_000;
/** Data preparation is not waited for longer. */
const patienceMs = 1_000;

/** The collections that questions can be asked about. */
@Injectable()
export class Library {
  #known: { at: number; shelves: Promise<Shelf[] | undefined> } | undefined;

  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** Undefined where data preparation does not answer. */
  describe(): Promise<Shelf[] | undefined> {
    const now = Date.now();
    if (!this.#known || now - this.#known.at > freshMs) this.#known = { at: now, shelves: this.#ask(now) };
    return this.#known.shelves;
  }

  async #ask(now: number): Promise<Shelf[] | undefined> {
    try {
      const reply = await this.client.request(listCollections, {}, { deadline: now + patienceMs });
      return reply.collections.map((name, index) => ({ name, documents: reply.documents?.[index] ?? 0 }));
    } catch {
      this.#known = undefined;
      return undefined;
    }
  }
}
