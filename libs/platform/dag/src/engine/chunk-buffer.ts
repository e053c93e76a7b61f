/**
 * Buffers the chunks of a stream, so that each reader sees all of them, however late it starts (a retry of a
 * reading node, a consumer that reads after the result). Writing never blocks.
 */
export class ChunkBuffer {
  readonly chunks: unknown[] = [];
  private state: { over: false } | { over: true; error?: Error } = { over: false };
  private readonly waiting = new Set<() => void>();

  get over(): boolean {
    return this.state.over;
  }

  push(chunk: unknown): void {
    if (this.state.over) return;
    this.chunks.push(chunk);
    this.wake();
  }

  end(): void {
    if (!this.state.over) this.state = { over: true };
    this.wake();
  }

  /** Readers get the error after the buffered chunks. */
  fail(error: Error): void {
    if (!this.state.over) this.state = { over: true, error };
    this.wake();
  }

  /** Returns a new reader. `onLeave` is called once if it stops before the end. */
  read(onLeave?: () => void): AsyncIterableIterator<unknown> {
    return new ChunkReader(this, onLeave);
  }

  /** Returns the result at this position; undefined if the reader has to wait. */
  poll(position: number): IteratorResult<unknown> | Error | undefined {
    if (position < this.chunks.length) return { done: false, value: this.chunks[position] };
    if (!this.state.over) return undefined;
    return this.state.error ?? { done: true, value: undefined };
  }

  /** Calls back once, at the next change; the returned function cancels the callback. */
  onChange(callback: () => void): () => void {
    this.waiting.add(callback);
    return () => this.waiting.delete(callback);
  }

  private wake(): void {
    const callbacks = [...this.waiting];
    this.waiting.clear();
    for (const callback of callbacks) callback();
  }
}

const finished = { done: true, value: undefined } as const;

class ChunkReader implements AsyncIterableIterator<unknown> {
  private position = 0;
  private left = false;
  private readonly pending = new Set<() => void>();

  constructor(
    private readonly buffer: ChunkBuffer,
    private readonly onLeave?: () => void,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => this.deliver(resolve, reject));
  }

  /** Takes effect at once, also while a `next` is pending. */
  return(): Promise<IteratorResult<unknown>> {
    this.leave();
    return Promise.resolve(finished);
  }

  private deliver(resolve: (result: IteratorResult<unknown>) => void, reject: (error: Error) => void): void {
    const found = this.left ? finished : this.buffer.poll(this.position);
    if (found === undefined) {
      const retry = (): void => {
        this.pending.delete(retry);
        forget();
        this.deliver(resolve, reject);
      };
      const forget = this.buffer.onChange(retry);
      this.pending.add(retry);
      return;
    }
    if (found instanceof Error) {
      this.left = true;
      reject(found);
      return;
    }
    if (found.done) this.left = true;
    else this.position++;
    resolve(found);
  }

  private leave(): void {
    if (this.left) return;
    this.left = true;
    for (const retry of this.pending) retry();
    this.onLeave?.();
  }
}
