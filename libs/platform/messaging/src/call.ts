import type { Priority } from '#platform/foundation';
import { MegaNestError, type ReplyOf, type RpcMethod, type Patience } from '#platform/contracts';
import type { Msg } from '@nats-io/transport-node';
import type { WatchedCall } from './instance-watch.js';
import { PartCollector } from './bodies.js';
import { checkMs, decodeJson, errorOf, header, silenceMs } from './wire.js';

/** Options of a call, in addition to its payload. */
export interface CallOptions {
  /** Shared by all calls that one user request causes. */
  requestId?: string;
  /** Point in time, in epoch milliseconds, after which the caller does not wait for the answer. */
  deadline?: number;
  /** Replaces the deadline: each reply of a stream extends it. */
  patience?: Patience;
  /** W3C trace context of the caller. */
  traceparent?: string;
  /** Calls with the same key go to the same instance unless it is busier than others, e.g. for its prefix cache. */
  affinity?: string;
  /** The model for the call: an instance that announces it gets the call, if there is one. */
  model?: string;
  /** Default `interactive`. Services may do bulk work later. */
  priority?: Priority;
  /** Aborting it stops the work in the service. */
  signal?: AbortSignal;
}

/** Timeout of a call without a deadline. */
export const defaultTimeoutMs = 120_000;

/** Receives the replies of a call: any number of replies, then one end, with an error if the call failed. */
export interface ReplySink<Reply> {
  push(reply: Reply): void;
  end(error?: Error): void;
}

/** The subject of a call, and the instance if the subject belongs to one instance. */
export interface CallTarget {
  subject: string;
  instance?: string;
}

/** Checks without a sign of life after which a call counts as lost if a dead instance may have run it. */
const checksOfSuspects = 6;

/**
 * Checks without a sign of life after which an instance had stopped before it was gone: its calls may be the cause. An
 * instance that is killed from outside was heard in the second before, and is missed after two more.
 */
const checksOfStopped = 4_000 / checkMs;

/** The client's side of one call: turns the messages of its reply subject into replies, an end or an error. */
export class Call<Method extends RpcMethod> implements WatchedCall {
  #checksSinceMessage = 0;
  #instance: string | undefined;
  /** Its service sends heartbeats without a name, so only silence shows its death. */
  #isAnonymous = false;
  #checksLeft: number | undefined;
  #received = 0;
  #settled = false;
  #finished = false;
  readonly #parts = new PartCollector();

  constructor(
    readonly method: Method,
    private readonly sink: ReplySink<ReplyOf<Method>>,
    /** Its destination: a subject of the queue group, or of one instance. */
    private readonly target: CallTarget = { subject: method.subject },
  ) {
    this.#instance = target.instance;
  }

  get subject(): string {
    return this.target.subject;
  }

  /** True if the service has ended the call, so that a cancellation is not needed. */
  get finished(): boolean {
    return this.#finished;
  }

  get instance(): string | undefined {
    return this.#instance;
  }

  accept(message: Msg): void {
    if (this.#settled) return;
    this.#checksSinceMessage = 0;
    this.#checksLeft = undefined;
    const error = errorOf(message, this.method.service);
    if (error) return this.#finish(error);
    const marker = message.headers?.get(header.stream);
    if (marker === 'alive') {
      this.#instance = message.headers?.get(header.instance) || undefined;
      this.#isAnonymous = this.#instance === undefined;
      return;
    }
    if (marker === 'send') return;
    if (marker === 'end') return this.#end(message.headers?.get(header.count));
    const data = message.headers?.get(header.part) ? this.#collect(message) : message.data;
    if (data) this.#receive(data);
  }

  /**
   * Called every {@link checkMs}; returns whether no message came since the last check. A service that is silent for
   * too long is dead. The silence is counted in checks, not in time, because a process that was suspended has unread
   * messages.
   */
  checkSilence(): boolean {
    this.#checksSinceMessage += 1;
    if (this.#checksLeft !== undefined) this.#checksLeft -= 1;
    if (this.#checksLeft === 0) this.lose();
    if (this.#checksSinceMessage > silenceMs / checkMs)
      this.#fail('it stopped answering while it worked on this call', { final: true });
    return this.#checksSinceMessage > 1;
  }

  /** An instance that had stopped before is not replaced by another one: the call could stop it, too. */
  lose(): void {
    const isCause = this.#checksSinceMessage >= checksOfStopped;
    this.#fail('the instance that ran the call is gone', isCause ? { final: true } : {});
  }

  suspect(): void {
    if (!this.#isAnonymous) this.#checksLeft ??= checksOfSuspects;
  }

  settle(error?: Error): void {
    if (this.#settled) return;
    this.#settled = true;
    this.sink.end(error);
  }

  #fail(detail: string, more: { final?: true } = {}): void {
    const { service } = this.method;
    this.settle(new MegaNestError('service_unavailable', { service, detail, ...more }));
  }

  #finish(error?: Error): void {
    this.#finished = true;
    this.settle(error);
  }

  /** Returns the whole reply at its last part. */
  #collect(part: Msg): Uint8Array | undefined {
    try {
      return this.#parts.add(part, this.method.service);
    } catch (error) {
      this.settle(error as Error);
      return undefined;
    }
  }

  #receive(data: Uint8Array): void {
    try {
      const parsed = this.method.reply.safeParse(decodeJson(data));
      if (!parsed.success) throw new Error(parsed.error.issues[0]?.message, { cause: parsed.error });
      this.#received += 1;
      this.sink.push(parsed.data as ReplyOf<Method>);
      if (!this.method.streaming) this.#finish();
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : 'unreadable';
      this.settle(new MegaNestError('bad_upstream', { service: this.method.service, detail, cause }));
    }
  }

  #end(count: string | undefined): void {
    if (count === undefined || Number(count) === this.#received) return this.#finish();
    this.#fail(`${Number(count) - this.#received} of ${count} messages were lost`);
  }
}

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

  /** Has no effect after a reply. */
  end(error?: Error): void {
    const { service } = this;
    this.#reject(
      error ?? new MegaNestError('bad_upstream', { service, detail: 'it ended without an answer' }),
    );
  }
}
