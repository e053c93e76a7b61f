import { MegaNestError, type OutputConstraint, invalidField } from '#contracts';
import { builtFile } from '#paths';

import { WorkerChannel } from '#models';
import type { Grammar } from './grammar.js';
import type { ReadConstraint } from './grammar-compiler.js';

/** Milliseconds that one constraint may take to read, and constraints that are kept. */
const longestReading = 5000;
const mostKept = 64;

/**
 * Reads constraints in a thread of its own, one after another: an expression, a schema or a grammar of a caller's that takes too
 * long ends that thread, and nothing else waits for it.
 */
export class ConstraintReader {
  private channel?: WorkerChannel<undefined, OutputConstraint, never, Grammar>;
  private last: Promise<unknown> = Promise.resolve();
  private readonly kept = new Map<string, ReadConstraint>();

  constructor(private readonly limitMs = longestReading) {}

  /** Errors: invalid_request with the path of what cannot be honored, or where reading takes too long; cancelled. */
  async read(constraint: OutputConstraint, signal?: AbortSignal): Promise<ReadConstraint> {
    const key = JSON.stringify(constraint);
    const known = this.kept.get(key);
    if (known) return known;
    const grammar = this.last.then(() => this.readNext(constraint, signal));
    this.last = grammar.catch(() => undefined);
    const read = { key, grammar: await grammar };
    this.kept.set(key, read);
    const [oldest] = this.kept.keys();
    if (this.kept.size > mostKept) this.kept.delete(oldest!);
    return read;
  }

  async close(): Promise<void> {
    await this.channel?.close();
  }

  private async readNext(constraint: OutputConstraint, signal: AbortSignal | undefined): Promise<Grammar> {
    if (signal?.aborted) throw new MegaNestError('cancelled');
    const channel = this.open();
    await channel.start();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        channel.end();
        reject(invalidField('constraint', `It takes longer than ${this.limitMs} ms to read.`));
      }, this.limitMs);
    });
    const reading = channel.call(constraint);
    reading.catch(() => undefined);
    try {
      return await Promise.race([reading, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  }

  private open(): NonNullable<typeof this.channel> {
    this.channel ??= new WorkerChannel(builtFile('constraint-reader.worker'), undefined);
    return this.channel;
  }
}
