/**
 * Sends together what one turn of the event loop brings forth. The client library writes to its socket once for each message
 * that comes in a microtask of its own; where eight answers get a token each, that would be eight system calls for one.
 */
export class Outbox {
  #waiting: (() => void)[] = [];

  /** @param onFailure Is told of a message that could not be sent, when nobody is left to throw at. */
  constructor(private readonly onFailure: (error: unknown) => void) {}

  /** Sends at the end of this turn, in the order of the calls. */
  add(send: () => void): void {
    if (this.#waiting.push(send) === 1) setImmediate(() => this.flush());
  }

  /** Sends at once what waits. */
  flush(): void {
    const sends = this.#waiting;
    this.#waiting = [];
    for (const send of sends) {
      try {
        send();
      } catch (error) {
        this.onFailure(error);
      }
    }
  }
}
