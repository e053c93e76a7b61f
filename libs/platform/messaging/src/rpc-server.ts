import {
  healthMethod,
  MegaNestError,
  parseOrThrow,
  startSpan,
  statisticsMethod,
  type OperationDigest,
  type RpcMethod,
  type ServiceHealth,
} from '#platform/contracts';
import { asClient, showWork } from '#platform/foundation';
import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { Svcm, type Service, type ServiceMsg } from '@nats-io/services';
import { nuid, type Msg, type MsgHdrs, type Subscription } from '@nats-io/transport-node';
import { isObservable, lastValueFrom } from 'rxjs';
import { defaultTimeoutMs } from './call.js';
import type { MessagingConnection } from './connection.js';
import { methodOf, type RpcContext } from './rpc-handler.js';
import { Outbox, partSize, partsOf, requireSendable, readRequestBody } from './bodies.js';
import { goneAfterMs, RunningCalls } from './running-calls.js';
import {
  aliveHeaders,
  aliveSubject,
  allCancellations,
  cancelSubject,
  decodeRequest,
  encodeJson,
  endHeaders,
  errorHeaders,
  firstHeartbeatMs,
  header,
  heartbeatMs,
  instanceSubject,
  loadHeaders,
} from './wire.js';

/** Gauges of a service, by name and label. */
export type ServiceLoad = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface RpcServerOptions {
  /** Also the queue group: each request goes to one of the instances. */
  service: string;
  description: string;
  /** Semantic version, shown by service discovery. */
  version: string;
  metadata?: Record<string, string>;
}

const drainLimitMs = 5_000;
/** Status of NATS's own answer for a subject without a listener. */
const noResponders = 503;

/**
 * Nest's transport for our services: handlers marked with `@RpcHandler` become endpoints of one NATS micro service,
 * so that discovery, statistics and `nats micro` know it.
 */
export class RpcServer extends Server implements CustomTransportStrategy {
  readonly #running = new RunningCalls();
  readonly #outbox = new Outbox((error) => this.logger.debug?.('An answer could not be sent.', error));
  readonly #instance = nuid.next();
  #service: Service | undefined;
  /** Subscriptions in addition to calls, open until the last call has ended. */
  #listening: Subscription[] = [];
  #heartbeat: NodeJS.Timeout | undefined;
  #stopped: Promise<unknown> | undefined;
  /** Requests that wait in its engine. */
  #waiting = 0;
  #takesDirect = true;
  #load: () => Promise<ServiceLoad> = () => Promise.resolve({});
  #models: () => readonly string[] = () => [];

  constructor(
    private readonly connection: MessagingConnection,
    private readonly options: RpcServerOptions,
  ) {
    super();
  }

  /** Shows the load of the service in discovery. */
  showLoad(read: () => Promise<ServiceLoad>): void {
    this.#load = read;
  }

  /** Announces the models that this instance serves, so that calls for them come here. */
  announceModels(read: () => readonly string[]): void {
    this.#models = read;
  }

  /** Answers `meganest.<service>.health`. */
  showHealth(read: () => Promise<ServiceHealth>): void {
    const method = healthMethod(this.options.service);
    this.addHandler(method.subject, read, false, { method });
  }

  /** Answers `meganest.<service>.statistics` with the measurements of this instance. */
  showStatistics(read: () => Readonly<Record<string, OperationDigest>>): void {
    const method = statisticsMethod(this.options.service);
    this.addHandler(method.subject, () => Promise.resolve({ operations: read() }), false, { method });
  }

  /** Number of running calls. */
  get runningCalls(): number {
    return this.#running.size;
  }

  listen(callback: (error?: unknown) => void): void {
    void this.#listen(callback);
  }

  /**
   * Stops taking calls, which go to other instances. Resolves when the running calls have ended, when `over` aborts, or
   * when the server is lost, and with it the callers.
   */
  async drain(over: AbortSignal): Promise<void> {
    await this.#takeNoMore();
    await this.connection.untilLost(this.#running.idle(over), goneAfterMs);
  }

  /** Stops taking calls, lets the running ones end (a few seconds at most), then stops. */
  async close(): Promise<void> {
    await this.drain(AbortSignal.timeout(drainLimitMs));
    this.#running.cancelAll();
    this.#outbox.flush();
    clearInterval(this.#heartbeat);
    for (const subscription of this.#listening) subscription.unsubscribe();
  }

  /** Stops taking calls; calls that have already arrived are still answered. */
  #takeNoMore(): Promise<unknown> {
    // The server confirms that it sends no more calls; without a server nothing can confirm it.
    this.#stopped ??= this.connection.untilLost(Promise.resolve(this.#service?.stop()));
    return this.#stopped;
  }

  override on(): never {
    throw new Error('RpcServer has no events of its own.');
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the signature is Nest's
  override unwrap<T>(): T {
    return this.connection.nats as T;
  }

  async #listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      await this.#start();
      callback();
    } catch (error) {
      callback(error);
    }
  }

  async #start(): Promise<void> {
    const { service, version, description, metadata = {} } = this.options;
    const { nats } = this.connection;
    this.#listening = [
      nats.subscribe(allCancellations, {
        callback: (error, message) => this.#hear(error, () => this.#hearOfCall(message)),
      }),
      nats.subscribe(aliveSubject(service), {
        callback: (error, message) => this.#hear(error, () => this.#sayWho(message)),
      }),
      // The subscription itself is the answer.
      nats.subscribe(aliveSubject(service, this.#instance), {
        callback: (error) => this.#hear(error, () => undefined),
      }),
    ];
    this.#service = await new Svcm(nats).add({
      name: service,
      version,
      description,
      queue: service,
      metadata,
      // NATS asks each endpoint for statistics; the load is for all endpoints together.
      statsHandler: ({ subject }) => (subject === this.#firstSubject ? this.#load() : Promise.resolve(null)),
    });
    for (const [pattern, handler] of this.messageHandlers)
      this.#addEndpoint(methodOf(handler.extras, pattern), handler);
    // The server knows the subscriptions before the service reports that it is ready.
    await nats.flush();
  }

  /** Handles a message, or the error with which the server refuses a subscription for lack of permission. */
  #hear(error: Error | null, act: () => unknown): void {
    if (error) this.logger.error(`the ${this.options.service} service cannot be called: ${error.message}`);
    else act();
  }

  /** Answers with the load at the previous question: callers wait for the answer, and a busy engine may be slow. */
  #sayWho(message: Msg): void {
    const load = this.#stopped || !this.#takesDirect ? undefined : this.#running.size + this.#waiting;
    const more = { models: this.#models(), bulk: this.#running.bulk };
    message.respond(this.#instance, this.#takesDirect ? { headers: loadHeaders(load, more) } : undefined);
    void this.#load()
      .then((gauges) => (this.#waiting = waitingIn(gauges)))
      .catch(() => undefined);
  }

  /** A caller stops its call, or the server reports a heartbeat without a listener. */
  #hearOfCall({ subject, headers }: Msg): void {
    const callId = subject.split('.').at(-1) ?? '';
    if (headers?.code === noResponders) this.#running.missBeat(callId);
    else this.#running.cancel(callId);
  }

  get #firstSubject(): string | undefined {
    const [first] = this.messageHandlers;
    return first && methodOf(first[1].extras, first[0]).subject;
  }

  /** Adds one endpoint in the queue group of the service, and one for this instance only. */
  #addEndpoint(method: RpcMethod, handler: MessageHandler): void {
    this.#service?.addEndpoint(method.method, {
      subject: method.subject,
      handler: (error, message) => {
        this.#hear(error, () => this.#take(method, handler, message));
      },
    });
    this.#service?.addEndpoint(`${method.method}-here`, {
      subject: instanceSubject(method.subject, this.#instance),
      handler: (error, message) => {
        // Without the permission for it, the queue group remains.
        if (error) this.#takesDirect = false;
        else this.#take(method, handler, message);
      },
    });
  }

  /** Answers a call as work of its client. */
  #take(method: RpcMethod, handler: MessageHandler, message: ServiceMsg): void {
    const client = message.headers?.get(header.client);
    const answer = () => void this.#answer(method, handler, message);
    if (client) asClient(decoded(client), answer);
    else answer();
  }

  async #answer(method: RpcMethod, handler: MessageHandler, message: ServiceMsg): Promise<void> {
    const callId = message.headers?.get(header.callId) || (message.reply ?? '');
    const span = startSpan(method.subject, {
      kind: 'server',
      traceparent: message.headers?.get(header.traceparent) || undefined,
      attributes: { 'rpc.system': 'nats', 'rpc.service': method.service, 'rpc.method': method.method },
    });
    const model = message.headers?.get(header.model);
    // The timer ends itself without calls, so that an idle process sleeps.
    this.#heartbeat ??= setInterval(() => this.#sendHeartbeats(), firstHeartbeatMs).unref();
    const context = this.#running.start(
      {
        callId,
        requestId: message.headers?.get(header.requestId) || callId,
        traceparent: span.traceparent,
        priority: message.headers?.get(header.priority) === 'bulk' ? 'bulk' : 'interactive',
        ...(model && { model: decoded(model) }),
      },
      message.reply ?? '',
      timesOf(message),
    );
    const hide = showWork(`${method.subject} ${context.requestId}`);
    let failure: MegaNestError | undefined;
    try {
      const sent = this.#bodyOf(message, context);
      const body = sent instanceof Uint8Array ? sent : await sent;
      const request = parseOrThrow(method.request, parseBody(body));
      await this.#reply(method, message, await this.#handle(handler, request, context), context);
    } catch (thrown) {
      failure = failureOf(thrown, method, context);
      this.#replyError(message, failure);
    } finally {
      span.end(failure);
      hide();
      this.#running.finish(callId);
    }
  }

  /** Returns the body. It is usually complete, and then does not cost a turn of the event loop. */
  #bodyOf(message: ServiceMsg, context: RpcContext): Uint8Array | Promise<Uint8Array> {
    if (!message.headers?.get(header.body)) return message.data;
    const { service } = this.options;
    return readRequestBody(this.connection.nats, message, { service, signal: context.signal });
  }

  async #handle(handler: MessageHandler, request: unknown, context: RpcContext): Promise<unknown> {
    const result: unknown = await handler(request, context);
    return isObservable(result) ? lastValueFrom(result) : result;
  }

  async #reply(method: RpcMethod, message: ServiceMsg, result: unknown, context: RpcContext): Promise<void> {
    if (!method.streaming) {
      this.#respond(message, encodeJson(result));
      return;
    }
    let count = 0;
    for await (const item of result as AsyncIterable<unknown>) {
      if (context.signal.aborted) throw new MegaNestError('cancelled');
      this.#respond(message, encodeJson(item));
      this.#running.renew(context.callId);
      count += 1;
    }
    this.#respond(message, new Uint8Array(), endHeaders(count));
  }

  #respond(message: ServiceMsg, data: Uint8Array, headers?: MsgHdrs): void {
    const limit = partSize(this.connection.nats);
    if (data.length <= limit) {
      this.#outbox.add(() => message.respond(data, headers && { headers }));
      return;
    }
    if (!message.headers?.get(header.accept))
      throw new MegaNestError('payload_too_large', { what: 'The answer', limit: `${limit} bytes` });
    requireSendable(data.length, 'The answer');
    for (const part of partsOf(data, limit))
      this.#outbox.add(() => message.respond(part.data, { headers: part.headers }));
  }

  /** Never throws, because the text of an error has a maximum length. */
  #replyError(message: ServiceMsg, error: MegaNestError): void {
    if (error.code === 'internal_error') this.logger.error(error.message, error.cause);
    this.#respond(message, encodeJson(error.toBody()), errorHeaders(error));
  }

  #sendHeartbeats(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
    }
    if (!this.connection.connected) return;
    for (const [callId, reply] of this.#running.due(heartbeatMs)) {
      // A caller that is gone makes the server answer "no responders" to the cancel subject, which stops the call after
      // a while.
      this.connection.nats.publish(reply, undefined, {
        headers: aliveHeaders(this.#instance),
        reply: cancelSubject(callId),
      });
    }
  }
}

/** The text of a header; as it is where another program wrote it in its own way. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Returns the sum of the gauges with the label `waiting`. */
function waitingIn(gauges: ServiceLoad): number {
  const numbers = Object.values(gauges).map(({ waiting }) => waiting);
  return numbers.reduce<number>((sum, waiting) => sum + Math.max(0, Math.round(waiting ?? 0)), 0);
}

/** Returns deadline_exceeded for work that its deadline stopped, on either side. */
function failureOf(thrown: unknown, { service }: RpcMethod, { deadline }: RpcContext): MegaNestError {
  const failure = MegaNestError.from(thrown, service);
  const isLate = failure.code === 'cancelled' && Date.now() >= deadline;
  return isLate ? new MegaNestError('deadline_exceeded') : failure;
}

function timesOf({ headers }: ServiceMsg): { timeoutMs: number; idleMs?: number } {
  const timeoutMs = Number(headers?.get(header.timeout)) || defaultTimeoutMs;
  const idleMs = Number(headers?.get(header.idle));
  return idleMs > 0 ? { timeoutMs, idleMs } : { timeoutMs };
}

/** An empty body counts as `{}`, so that `nats req meganest.embedding.describe ''` works. */
function parseBody(data: Uint8Array): unknown {
  if (data.length === 0) return {};
  try {
    return decodeRequest(data);
  } catch (cause) {
    if (cause instanceof MegaNestError) throw cause;
    throw new MegaNestError('invalid_json', { detail: cause instanceof Error ? cause.message : '', cause });
  }
}
