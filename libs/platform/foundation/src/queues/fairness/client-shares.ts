/** Clients without waiting work that are remembered; beyond it their debts are forgotten. */
const maxRemembered = 1_000;

/**
 * Says which client is next: the one that has got the least work since it came (start-time fair queuing, Goyal 1996). A
 * client that was away has not earned anything: it begins at the place of the client that was served last. The unit of
 * work is the caller's: tokens, milliseconds, pieces.
 */
export class ClientShares {
  /** Work that each client has got, on one scale. */
  readonly #served = new Map<string, number>();
  #clock = 0;

  /** The client with the least work; undefined if there is none. The first of equal ones. */
  next(clients: Iterable<string>): string | undefined {
    let best: string | undefined;
    let least = Infinity;
    for (const client of clients) {
      const served = this.#of(client);
      if (served < least) [best, least] = [client, served];
    }
    if (best !== undefined) this.#clock = Math.max(this.#clock, least);
    return best;
  }

  /** Notes work for a client, or with a negative number that it was less than noted. */
  charge(client: string, work: number): void {
    const served = this.#of(client) + work;
    this.#served.delete(client);
    this.#served.set(client, served);
    if (this.#served.size <= maxRemembered) return;
    for (const [other, work] of this.#served) if (work <= this.#clock) this.#served.delete(other);
    const [oldest] = this.#served.keys();
    if (this.#served.size > maxRemembered && oldest !== undefined) this.#served.delete(oldest);
  }

  #of(client: string): number {
    return Math.max(this.#clock, this.#served.get(client) ?? 0);
  }
}
