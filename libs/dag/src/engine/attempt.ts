import { MegaNestError } from '#contracts';
import type { NodeDefinition } from '../definition/types.js';
import { AbortScope } from './abort-scope.js';
import { NodeTimeoutError } from './errors.js';
import { startTimer, untilAborted } from './timers.js';

/** What an attempt gave: a finished output, or a stream whose first chunk is there. */
export type Production = { kind: 'value'; value: unknown } | { kind: 'stream'; stream: OpenStream };

export interface RunningAttempt {
  readonly production: Promise<Production>;
  /** Stops it; the production rejects with the reason, unless it is there already. */
  abort(reason: Error): void;
}

export interface AttemptRequest {
  node: NodeDefinition;
  /** Makes one output of the chunks when the node does not hand its stream on. */
  collect: (chunks: unknown[]) => unknown;
  /** Calls the runner with the attempt's own scope and deadline. */
  call: (scope: AbortScope, deadline: number | undefined) => Promise<unknown> | AsyncIterable<unknown>;
  /** The node's. */
  scope: AbortScope;
  /** The request's deadline in epoch milliseconds. */
  deadline: number | undefined;
}

/** Calls a node's runner once, within the node's timeout. */
export function startAttempt(request: AttemptRequest): RunningAttempt {
  const scope = new AttemptScope(request);
  return { production: produce(request, scope), abort: (reason) => scope.abort(reason) };
}

async function produce(request: AttemptRequest, scope: AttemptScope): Promise<Production> {
  let iterator: AsyncIterator<unknown> | undefined;
  try {
    const returned = await scope.wait(callRunner(request, scope), closeIterable);
    if (!isAsyncIterable(returned)) return scope.finish({ kind: 'value', value: returned });
    iterator = returned[Symbol.asyncIterator]();
    if (!request.node.stream) return scope.finish(await collectAll(request, scope, iterator));
    const first = await scope.wait(iterator.next());
    return { kind: 'stream', stream: new OpenStream(scope, iterator, first) };
  } catch (thrown) {
    const error = scope.explain(thrown);
    scope.abort(error);
    if (iterator) closeIterator(iterator);
    throw error;
  }
}

async function callRunner(request: AttemptRequest, scope: AttemptScope): Promise<unknown> {
  return request.call(scope.own, scope.deadline);
}

async function collectAll(
  { collect }: AttemptRequest,
  scope: AttemptScope,
  iterator: AsyncIterator<unknown>,
): Promise<Production> {
  const chunks: unknown[] = [];
  let result = await scope.wait(iterator.next());
  while (!result.done) {
    chunks.push(result.value);
    result = await scope.wait(iterator.next());
  }
  return { kind: 'value', value: collect(chunks) };
}

/** The rest of a stream; `timeoutMs` now bounds the wait for each chunk. */
export class OpenStream {
  constructor(
    private readonly scope: AttemptScope,
    private readonly iterator: AsyncIterator<unknown>,
    private result: IteratorResult<unknown>,
  ) {}

  /** Gives every chunk, from the first, to `onChunk`; rejects with what ended the stream before its time. */
  async pump(onChunk: (chunk: unknown) => void): Promise<void> {
    try {
      while (!this.result.done) {
        onChunk(this.result.value);
        this.scope.restartTimer();
        this.result = await this.scope.wait(this.iterator.next());
      }
      this.scope.close();
    } catch (thrown) {
      const error = this.scope.explain(thrown);
      this.discard(error);
      throw error;
    }
  }

  /** Stops a stream that nobody wants. */
  discard(reason: Error): void {
    this.scope.abort(reason);
    closeIterator(this.iterator);
  }
}

/** What stops one attempt: its own time, and the end of its node. */
class AttemptScope {
  /** Epoch milliseconds that the runner is told; of a stream the request's, as `timeoutMs` does not bound its whole. */
  readonly deadline: number | undefined;
  readonly own = new AbortScope();
  private stopTimer = (): void => {};

  constructor(private readonly request: AttemptRequest) {
    const { node, scope, deadline } = request;
    const until = node.timeoutMs === undefined || node.stream ? Infinity : Date.now() + node.timeoutMs;
    this.deadline = until < (deadline ?? Infinity) ? until : deadline;
    if (scope.aborted) this.follow();
    else scope.onAbort(this.follow);
    this.restartTimer();
  }

  wait<Value>(promise: Promise<Value>, discard?: (late: Value) => void): Promise<Value> {
    return untilAborted(promise, this.own, discard);
  }

  /** Starts `timeoutMs` anew; where the request's deadline comes first, that one is left to the run. */
  restartTimer(): void {
    this.stopTimer();
    const { node, deadline = Infinity } = this.request;
    if (node.timeoutMs === undefined || this.own.aborted) return;
    if (Date.now() + node.timeoutMs >= deadline) return;
    this.stopTimer = startTimer(node.timeoutMs, () => this.own.abort(this.timeout()));
  }

  /** A service that was given the attempt's own deadline may report it before our timer does. */
  explain(thrown: unknown): Error {
    const ranOut = thrown instanceof MegaNestError && thrown.code === 'deadline_exceeded';
    if (ranOut && this.deadline !== this.request.deadline) return this.timeout();
    return MegaNestError.from(thrown, this.request.node.target.service);
  }

  finish(production: Production): Production {
    this.close();
    return production;
  }

  abort(reason: Error): void {
    this.close();
    this.own.abort(reason);
  }

  close(): void {
    this.stopTimer();
    this.request.scope.off(this.follow);
  }

  private readonly follow = (): void => this.abort(this.request.scope.reason as Error);

  private timeout(): NodeTimeoutError {
    return new NodeTimeoutError(this.request.node);
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function closeIterable(value: unknown): void {
  if (isAsyncIterable(value)) closeIterator(value[Symbol.asyncIterator]());
}

/** Its answer is not awaited: a generator that is stuck answers only once its own wait ends. */
function closeIterator(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.then(undefined, () => {});
  } catch {
    // A `return` that throws has nothing to tell: the stream is over for us.
  }
}
