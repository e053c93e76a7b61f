import { randomUUID } from 'node:crypto';
import { AsyncQueue, currentClient } from '#platform/foundation';
import {
  MegaNestError,
  startSpan,
  type Patience,
  type ReplyOf,
  type RequestOf,
  type RpcMethod,
} from '#platform/contracts';
import { Logger } from '@nestjs/common';
import { errors, headers, type Msg, type MsgHdrs, type Subscription } from '@nats-io/transport-node';
import {
  Call,
  type CallTarget,
  type ReplySink,
  SingleReply,
  defaultTimeoutMs,
  type CallOptions,
} from './call.js';
import { unguessableToken, type MessagingConnection } from './connection.js';
import { InstanceChoice, type Route } from './instance-choice.js';
import { InstanceWatch, instanceName } from './instance-watch.js';
import { partSize, partsOf, requireSendable } from './bodies.js';
import {
  aliveSubject,
  cancelSubject,
  checkMs,
  encodeJson,
  header,
  instanceSubject,
  modelAway,
  NobodyThereError,
} from './wire.js';

/** Ends a call for its caller, with its error. */
type Leave = (failure: unknown) => void;

/** All instances of a service have said who they are after so long, or when none has for 300 ms. */
const maxGatherMs = 1_000;

/** Time that a call with a model waits for an instance that announces it. */
const announceMs = 200;

/**
 * Calls methods of services. All replies of a connection arrive over one subscription, so a call costs one publish. A
 * reply subject has the name of the called service, so that the server's permissions keep other services from
 * answering. Errors: the service's own, `service_unavailable` (no instance, or it died), `deadline_exceeded`,
 * `cancelled`, `payload_too_large`, `bad_upstream`.
 *
 * @example
 *   import { defineMethod } from '#platform/contracts';
 *   import { MessagingModule, RpcClient, RpcHandler, RpcServer } from '#platform/messaging';
 *   import { Controller } from '@nestjs/common';
 *   import { NestFactory } from '@nestjs/core';
 *   import { FastifyAdapter } from '@nestjs/platform-fastify';
 *   import assert from 'node:assert/strict';
 *   import { z } from 'zod';
 *
 *   const greet = defineMethod({
 *     service: 'greeter',
 *     method: 'greet',
 *     request: z.object({ name: z.string() }),
 *     reply: z.object({ text: z.string() }),
 *   });
 *   // With decorators: `@Controller() class Greeter { @RpcHandler(greet) greet(…) {…} }`.
 *   class Greeter {
 *     greet({ name }: { name: string }) {
 *       return { text: `Hello, ${name}.` };
 *     }
 *   }
 *   Controller()(Greeter);
 *   RpcHandler(greet)(Greeter.prototype, 'greet', Object.getOwnPropertyDescriptor(Greeter.prototype, 'greet')!);
 *
 *   const identity = { service: 'greeter', description: 'Greets.', version: '1.0.0' };
 *   const messaging = MessagingModule.register({ ...identity, name: 'greeter', url: process.env.NATS_URL! });
 *   const module = { module: class Greeting {}, imports: [messaging], controllers: [Greeter] };
 *   const app = await NestFactory.create(module, new FastifyAdapter(), { logger: false });
 *   app.connectMicroservice({ strategy: app.get(RpcServer) });
 *   await app.startAllMicroservices();
 *   const { text } = await app.get(RpcClient).request(greet, { name: 'Ada' });
 *   assert.equal(text, 'Hello, Ada.');
 *   await app.close();
 */
export class RpcClient {
  readonly #inbox: string;
  readonly #calls = new Map<string, Call<RpcMethod>>();
  /** Bodies too large for one message, by call, until the instance that got the call asks for them. */
  readonly #bodies = new Map<string, Uint8Array>();
  readonly #watch: InstanceWatch;
  readonly #choice = new InstanceChoice();
  #reconnects = 0;
  readonly #subscription: Subscription;
  /** Runs while there are calls. */
  #checkTimer: NodeJS.Timeout | undefined;

  /** `balance`: false leaves the choice of the instance to the queue group of NATS. */
  constructor(
    private readonly connection: MessagingConnection,
    private readonly options: { balance?: boolean } = {},
  ) {
    this.#inbox = connection.newInbox();
    this.#subscription = connection.nats.subscribe(`${this.#inbox}.*.*`, {
      callback: (error, message) => {
        if (error) new Logger('nats').error(`no answer can be received: ${error.message}`);
        else this.#dispatch(message);
      },
    });
    this.#watch = new InstanceWatch({
      publish: (subject, reply) => connection.nats.publish(subject, undefined, { reply }),
      inbox: this.#inbox,
      calls: () => this.#calls.values(),
      onAsked: (service) => this.#choice.asked(service),
      onAnswer: (service, id, said) => this.#choice.note(service, id, said),
    });
    connection.onRefused = (subject) => this.#refuse(subject);
  }

  /** One request, one reply. */
  async request<Method extends RpcMethod>(
    method: Method,
    payload: RequestOf<Method>,
    options: CallOptions = {},
  ): Promise<ReplyOf<Method>> {
    await this.#whenReady(method, options);
    const single = new SingleReply<ReplyOf<Method>>(method.service);
    const leave = this.#send(method, payload, options, single);
    let failure: unknown;
    try {
      return await single.reply;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      leave(failure);
    }
  }

  /** A stream of replies. Leaving the loop, aborting the signal and the deadline stop the work on the other side. */
  stream<Method extends RpcMethod>(
    method: Method,
    payload: RequestOf<Method>,
    options: CallOptions = {},
  ): AsyncGenerator<ReplyOf<Method>, void, void> {
    const replies = new AsyncQueue<ReplyOf<Method>>();
    return replies.read(async () => {
      await this.#whenReady(method, options);
      return this.#send(method, payload, options, replies);
    });
  }

  /**
   * Sends a call, and again to other instances if one does not take it; the returned function removes all its state.
   */
  #send<Method extends RpcMethod>(
    method: Method,
    payload: RequestOf<Method>,
    options: CallOptions,
    sink: ReplySink<ReplyOf<Method>>,
  ): Leave {
    const route = this.#choice.route(method.service, options);
    const begin = () => this.#begin(method, payload, { ...options, instance: this.#next(route) }, trying);
    let leave: Leave;
    let begun = false;
    const trying: ReplySink<ReplyOf<Method>> = {
      push: (reply) => {
        begun = true;
        sink.push(reply);
      },
      end: (error) => {
        if (begun || !route.goesOn(error)) return sink.end(ofNamedModel(error, method, options));
        leave(error);
        leave = () => undefined;
        try {
          leave = begin();
        } catch (again) {
          sink.end(again as Error);
        }
      },
    };
    leave = begin();
    return (failure) => leave(failure);
  }

  /** True if the known instances of a service announce models but not this one. */
  lacks(service: string, model: string): boolean {
    return this.#choice.lacks(service, model);
  }

  /** Asks every instance of a service; leaves out instances that do not answer in time, or refuse. */
  async requestAll<Method extends RpcMethod>(
    method: Method,
    payload: RequestOf<Method>,
    options: CallOptions & { deadline: number },
  ): Promise<ReplyOf<Method>[]> {
    await this.#whenConnected(options);
    const instances = await this.#instancesOf(method.service);
    const replies = instances.map(async (instance) => {
      const single = new SingleReply<ReplyOf<Method>>(method.service);
      const leave = this.#begin(method, payload, { ...options, instance }, single);
      return single.reply.finally(() => leave(undefined));
    });
    const settled = await Promise.allSettled(replies);
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** Asks for the names of the instances that take calls by name. */
  async #instancesOf(service: string): Promise<string[]> {
    // A separate inbox: every service may answer there, and not in the other inboxes of this connection.
    const options = { strategy: 'stall', maxWait: maxGatherMs, noMux: true } as const;
    const names: string[] = [];
    try {
      for await (const answer of await this.connection.nats.requestMany(aliveSubject(service), '', options))
        if (answer.headers?.get(header.load)) names.push(answer.string());
    } catch (error) {
      if (!(error instanceof errors.NoRespondersError)) throw error;
    }
    return names.filter((name) => instanceName.test(name));
  }

  #next(route: Route): string | undefined {
    return this.options.balance === false ? undefined : route.next();
  }

  /** Calls that the server did not let through go to the queue group. */
  #refuse(subject: string): void {
    for (const call of this.#calls.values()) {
      if (call.subject !== subject || call.instance === undefined) continue;
      this.#choice.forbid(call.method.service);
      call.settle(new NobodyThereError(call.method.service));
    }
  }

  close(): void {
    clearInterval(this.#checkTimer);
    this.#subscription.unsubscribe();
    for (const call of this.#calls.values()) call.settle(new MegaNestError('cancelled'));
  }

  /** Waits for a connection and, for a call with a model, for the announcements of the instances. */
  async #whenReady({ service }: RpcMethod, options: CallOptions): Promise<void> {
    await this.#whenConnected(options);
    this.#noticeReconnect();
    const { model } = options;
    if (model === undefined || this.options.balance === false || this.#choice.serves(service, model)) return;
    this.#watch.ask(service);
    await this.#choice.whenServed(service, model, announceMs);
  }

  /** Waits for a connection, because an unavailable server usually comes back within seconds. */
  async #whenConnected({ deadline, signal }: CallOptions): Promise<void> {
    if (this.connection.connected) return;
    await this.connection.whenConnected(deadline ?? Date.now() + defaultTimeoutMs, signal);
  }

  /** Sends the request. Call the returned function when the call is over: it removes all its state. */
  #begin<Method extends RpcMethod>(
    method: Method,
    payload: RequestOf<Method>,
    options: CallOptions & { instance?: string | undefined },
    sink: ReplySink<ReplyOf<Method>>,
  ): (failure: unknown) => void {
    const { signal, instance } = options;
    if (signal?.aborted) throw new MegaNestError('cancelled');
    const callId = unguessableToken();
    const timeoutMs = remainingTime(options.patience?.at ?? options.deadline);
    const target: CallTarget =
      instance === undefined
        ? { subject: method.subject }
        : { subject: instanceSubject(method.subject, instance), instance };
    const span = startSpan(method.subject, { kind: 'client', ...traceOf(method, options) });
    try {
      const { traceparent } = span;
      const { subject } = target;
      this.#publish(method, payload, { callId, timeoutMs, subject, options: { ...options, traceparent } });
    } catch (error) {
      span.end(error);
      throw error;
    }
    const call = new Call(method, method.streaming ? renewing(sink, options.patience) : sink, target);
    this.#calls.set(callId, call);
    this.#checkTimer ??= setInterval(() => this.#check(), checkMs).unref();
    const leaveInstance = instance === undefined ? undefined : this.#choice.begin(method.service, instance);
    this.#watch.meet(method.service);
    const stopWatch = watchTime(options.patience, timeoutMs, () =>
      call.settle(new MegaNestError('deadline_exceeded')),
    );
    const onAbort = () => call.settle(new MegaNestError('cancelled'));
    signal?.addEventListener('abort', onAbort, { once: true });
    return (failure) => {
      span.end(failure);
      leaveInstance?.();
      stopWatch();
      signal?.removeEventListener('abort', onAbort);
      this.#abandon(call, callId);
    };
  }

  /** Publishes the request without a validation: the service validates it. */
  #publish(
    method: RpcMethod,
    payload: unknown,
    {
      callId,
      timeoutMs,
      subject,
      options,
    }: { callId: string; timeoutMs: number; subject: string; options: CallOptions },
  ): void {
    const data = encodeJson(payload);
    requireSendable(data.length, 'The message');
    const reply = `${this.#inbox}.${method.service}.${callId}`;
    const sent = callHeaders(
      callId,
      timeoutMs,
      method.streaming ? options : { ...options, patience: undefined },
    );
    const isWhole = data.length <= partSize(this.connection.nats);
    if (!isWhole) {
      sent.set(header.body, String(data.length));
      this.#bodies.set(callId, data);
    }
    this.connection.nats.publish(subject, isWhole ? data : undefined, { reply, headers: sent });
  }

  /** Removes the call; asks the service to stop if it may still work on it. */
  #abandon(call: Pick<Call<RpcMethod>, 'finished' | 'settle'>, callId: string): void {
    this.#calls.delete(callId);
    this.#bodies.delete(callId);
    if (call.finished || this.connection.nats.isClosed()) return;
    call.settle();
    this.connection.nats.publish(cancelSubject(callId));
  }

  #dispatch(message: Msg): void {
    const [service = '', token = ''] = message.subject.slice(this.#inbox.length + 1).split('.');
    const found = this.#calls.get(token);
    const call = found?.method.service === service ? found : undefined;
    if (call && message.headers?.get(header.stream) === 'send') this.#sendBody(token, message);
    if (call) call.accept(message);
    else this.#watch.accept(message, service, token);
    // The heartbeat of an abandoned call: its cancel was lost with a connection. The answer repeats the cancel.
    if (!call && message.headers?.get(header.stream) === 'alive') message.respond();
  }

  #sendBody(callId: string, { reply }: Msg): void {
    const body = this.#bodies.get(callId);
    this.#bodies.delete(callId);
    if (!body || !reply) return;
    for (const part of partsOf(body, partSize(this.connection.nats)))
      this.connection.nats.publish(reply, part.data, { headers: part.headers });
  }

  #check(): void {
    if (this.#calls.size === 0) {
      clearInterval(this.#checkTimer);
      this.#checkTimer = undefined;
      return;
    }
    const quiet = new Set<string>();
    for (const call of this.#calls.values()) if (call.checkSilence()) quiet.add(call.method.service);
    if (!this.connection.connected) return;
    this.#noticeReconnect();
    this.#watch.look(quiet);
  }

  /** After a new connection the instances are unknown. */
  #noticeReconnect(): void {
    const { reconnects } = this.connection;
    if (reconnects === this.#reconnects) return;
    this.#reconnects = reconnects;
    this.#watch.forget();
    this.#choice.forget();
  }
}

/** If a call names a model, a refusal by instances of other models means that its own instances are away. */
function ofNamedModel(error: Error | undefined, { service }: RpcMethod, { model }: CallOptions) {
  const isOther = error instanceof MegaNestError && error.code === 'model_not_found';
  return isOther && model !== undefined ? modelAway(service, model) : error;
}

function remainingTime(deadline: number | undefined): number {
  const remaining = deadline === undefined ? defaultTimeoutMs : deadline - Date.now();
  if (remaining <= 0) throw new MegaNestError('deadline_exceeded');
  return remaining;
}

function watchTime(patience: Patience | undefined, timeoutMs: number, action: () => void): () => void {
  if (patience) return patience.watch(action);
  const timer = setTimeout(action, timeoutMs);
  return () => clearTimeout(timer);
}

/** Wraps the sink: each reply extends the time of the request. */
function renewing<Reply>(sink: ReplySink<Reply>, patience: Patience | undefined): ReplySink<Reply> {
  if (!patience) return sink;
  return {
    push: (reply) => {
      patience.renew();
      sink.push(reply);
    },
    end: (error) => sink.end(error),
  };
}

function traceOf({ service, method }: RpcMethod, { traceparent, requestId = '' }: CallOptions) {
  const attributes = { 'rpc.system': 'nats', 'rpc.service': service, 'rpc.method': method };
  return { traceparent, attributes: { ...attributes, 'meganest.request_id': requestId } };
}

function callHeaders(callId: string, timeoutMs: number, options: CallOptions): MsgHdrs {
  const result = headers();
  result.set(header.callId, callId);
  result.set(header.accept, 'parts');
  result.set(header.timeout, String(Math.ceil(timeoutMs)));
  if (options.patience) result.set(header.idle, String(options.patience.idleMs));
  result.set(header.requestId, options.requestId ?? randomUUID());
  if (options.traceparent) result.set(header.traceparent, options.traceparent);
  result.set(header.client, encodeURIComponent(currentClient()));
  if (options.model !== undefined) result.set(header.model, encodeURIComponent(options.model));
  if (options.priority === 'bulk') result.set(header.priority, options.priority);
  return result;
}
