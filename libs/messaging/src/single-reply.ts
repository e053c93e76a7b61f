import { MegaNestError } from '#contracts';
import type { ReplySink } from './call.js';

/** The first reply of a call as a promise. */
export class SingleReply<Reply> implements ReplySink<Reply> {
  readonly reply: Promise<Reply>;
  #resolve!: (reply: Reply) => void;
  #reject!: (error: Error) => void;

  constructor(private readonly service: string) {
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  push(reply: Reply): void {
    this.#resolve(reply);
  }

  /** Without effect once a reply was there. */
  end(error?: Error): void {
    const { service } = this;
    this.#reject(
      error ?? new MegaNestError('bad_upstream', { service, detail: 'it ended without an answer' }),
    );
  }
}
