import { currentClient } from './client-context.js';
import { ClientShares } from './client-shares.js';

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * Lets a bounded number of bytes through in each turn of the event loop. Clients that send many files at the same time
 * do not hold up small requests: between two turns the loop serves everything else. The client that has sent the least
 * is next; pieces of one client pass in their order.
 */
export class ByteTurns {
  readonly #shares = new ClientShares();
  readonly #waiting = new Map<string, Waiting[]>();
  #isScheduled = false;

  constructor(private readonly maxBytesOfTurn: number) {}

  /** Resolves when it is the turn of these bytes. A turn lets one piece through at least. */
  take(bytes: number, client = currentClient()): Promise<void> {
    return new Promise((enter) => {
      const own = this.#waiting.get(client);
      if (own) own.push({ bytes, enter });
      else this.#waiting.set(client, [{ bytes, enter }]);
      this.#schedule();
    });
  }

  /** Yields the pieces, each in its turn. */
  async *pace(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    for await (const piece of pieces) {
      await this.take(piece.length);
      yield piece;
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#admit();
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #admit(): void {
    for (let left = this.maxBytesOfTurn; left > 0;) {
      const client = this.#shares.next(this.#waiting.keys());
      const own = client === undefined ? undefined : this.#waiting.get(client);
      const piece = own?.shift();
      if (client === undefined || !own || !piece) return;
      if (own.length === 0) this.#waiting.delete(client);
      this.#shares.charge(client, piece.bytes);
      left -= piece.bytes;
      piece.enter();
    }
  }
}
