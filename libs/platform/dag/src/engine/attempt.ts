import { MegaNestError, type ErrorCode } from '#platform/contracts';
import type { NodeDefinition } from '../definition/types.js';
import { AbortScope, startTimer, untilAborted } from './abort-scope.js';

/** Result of an attempt: a complete output, or a stream with its first chunk. */
export type Production = { kind: 'value'; value: unknown } | { kind: 'stream'; stream: OpenStream };

/** An attempt in progress. */
export interface RunningAttempt {
  readonly production: Promise<Production>;
  /** Stops it; `production` rejects with the reason unless it has settled. */
  abort(reason: Error): void;
}

/** An attempt to start. */
interface AttemptRequest {
  node: NodeDefinition;
  /** Converts the chunks to one output if the node does not stream. */
  collect: (chunks: unknown[]) => unknown;
  /** Calls the runner with the attempt's own scope and deadline. */
  call: (scope: AbortScope, deadline: number | undefined) => Promise<unknown> | AsyncIterable<unknown>;
  /** Scope of the node. */
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

/** The rest of a stream; `timeoutMs` limits the wait for each chunk. */
export class OpenStream {
  constructor(
    private readonly scope: AttemptScope,
    private readonly iterator: AsyncIterator<unknown>,
    private result: IteratorResult<unknown>,
  ) {}

  /** Passes every chunk to `onChunk`. Rejects with the error that ended the stream early. */
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

  /** Stops an unused stream. */
  discard(reason: Error): void {
    this.scope.abort(reason);
    closeIterator(this.iterator);
  }
}

/** Stops an attempt: at its timeout, and at the end of its node. */
class AttemptScope {
  /**
   * Deadline for the runner in epoch milliseconds. For a stream it is the request's deadline, because `timeoutMs`
   * does not limit the whole stream.
   */
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

  /** Restarts `timeoutMs`. If the request's deadline comes first, the run handles that. */
  restartTimer(): void {
    this.stopTimer();
    const { node, deadline = Infinity } = this.request;
    if (node.timeoutMs === undefined || this.own.aborted) return;
    if (Date.now() + node.timeoutMs >= deadline) return;
    this.stopTimer = startTimer(node.timeoutMs, () => this.own.abort(this.timeout()));
  }

  /** A service may report the attempt's deadline before this timer fires. */
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

/** Not awaited: a blocked generator returns only when its pending await settles. */
function closeIterator(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.then(undefined, () => {});
  } catch {
    // An error in `return` does not matter: the stream is closed.
  }
}

/** An attempt exceeded its node's `timeoutMs`; unlike the request's deadline it may be retried. */
class NodeTimeoutError extends MegaNestError {
  constructor(node: NodeDefinition) {
    const detail = `: node "${node.name}" took longer than ${node.timeoutMs} ms`;
    super('deadline_exceeded', { detail, service: node.target.service });
  }
}

const retryableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'service_unavailable',
  'overloaded',
  'rate_limit_exceeded',
  'bad_upstream',
]);

/** True if another attempt, perhaps on another instance, may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof NodeTimeoutError) return true;
  return error instanceof MegaNestError && retryableCodes.has(error.code) && !error.final;
}

/** Adds the node's name to a server error if several nodes use the same service. */
export function nameNode(error: MegaNestError, node: NodeDefinition, nodes: Iterable<NodeDefinition>) {
  const { service } = node.target;
  const sharing = [...nodes].filter((other) => other.target.service === service).length;
  const known = sharing < 2 || error.message.includes(`"${node.name}"`);
  if (known || error.status < 500 || error.code === 'cancelled') return error;
  const named = MegaNestError.fromBody({
    ...error.toBody(),
    message: `${error.message} (node "${node.name}")`,
  });
  named.cause = error;
  return named;
}
