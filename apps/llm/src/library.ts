import { listCollections } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { Shelf } from '#answers/extractive';

/** Milliseconds until the cached description is refreshed. */
const freshMs = 10_000;
/** Timeout for the answer of data preparation. */
const patienceMs = 1_000;

/** The collections of documents that the user can ask about. */
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
