import { invalidField, type OutputConstraint } from '#contracts';
import { builtFile } from '#paths';
import { TimedWorker } from '#models';
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
  private readonly worker: TimedWorker<OutputConstraint, Grammar>;
  private readonly kept = new Map<string, ReadConstraint>();

  constructor(private readonly limitMs = longestReading) {
    this.worker = new TimedWorker(() => builtFile('constraint-reader.worker'), limitMs);
  }

  /** Errors: invalid_request with the path of what cannot be honored, or where reading takes too long; cancelled. */
  async read(constraint: OutputConstraint, signal?: AbortSignal): Promise<ReadConstraint> {
    const key = JSON.stringify(constraint);
    const known = this.kept.get(key);
    if (known) return known;
    const tooLong = () => invalidField('constraint', `It takes longer than ${this.limitMs} ms to read.`);
    const read = { key, grammar: await this.worker.run(constraint, tooLong, signal) };
    this.kept.set(key, read);
    const [oldest] = this.kept.keys();
    if (this.kept.size > mostKept) this.kept.delete(oldest!);
    return read;
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}
