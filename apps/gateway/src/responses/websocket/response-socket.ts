import { MegaNestError, parseOrThrow, Patience, retrySeconds, unsupportedField } from '#platform/contracts';
import {
  createResponseSchema,
  errorEvent,
  type ResponseEvent,
  type ResponseRequest,
  type StoredItem,
} from '#api/responses';
import {
  degradedHeaderName,
  ignoredHeader,
  ignoredHeaderName,
  parseJsonBody,
  type HttpCall,
} from '#platform/service-kit';
import type { WebSocket } from '@fastify/websocket';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ResponsePlan } from '../context/response-plan.js';
import type { ResponseRun } from '../execution/response-run.js';
import { Lanes } from './lanes.js';
import { LocalResponses } from './local-responses.js';

/** Limits for the memory and the lifetime of one connection. */
export interface SocketBounds {
  maxLanes: number;
  /** Limit for the turns that wait or run. */
  maxTurns: number;
  /** Limit for the bytes of the messages of these turns; a single message may exceed it. */
  maxBytes: number;
  /** Limits for the responses with `store: false` that turns may continue: number, and characters of their contexts. */
  maxResponses: number;
  maxContextSize: number;
  /** Milliseconds between pings. A client that did not answer the last ping counts as disconnected. */
  pingMs: number;
  /** Maximum lifetime of a connection in milliseconds. */
  lifetimeMs: number;
  /** Deadline of a turn in milliseconds. */
  turnTimeoutMs: number;
  /** Deadline in milliseconds of a turn that keeps sending events. */
  streamTimeoutMs: number;
}

/** The response that a turn has started. */
export interface StartedTurn {
  plan: ResponsePlan;
  run: ResponseRun;
}

export interface ResponseSocketOptions {
  bounds: SocketBounds;
  /** Trace that the turns belong to. */
  traceparent: string;
  /** Counts a message against the rate limit. Errors: rate_limit_exceeded. */
  admit: () => Promise<void>;
  /** Counts bytes of messages for all clients together. Returns a function that releases them. Errors: overloaded. */
  hold: (bytes: number) => () => void;
  /** Starts a turn's response. Errors: all errors before its first token. */
  start: (turn: SocketTurn, call: HttpCall, local: LocalResponses) => Promise<StartedTurn>;
}

/** Limits for the bytes that a client has not read yet, and for the messages that wait for their admission. */
const maxUnreadBytes = 4 * 1024 * 1024;
const maxReceiving = 1000;

/** WebSocket close codes (RFC 6455). */
const closeCodes = { goingAway: 1001, unsupportedData: 1003, limitReached: 1008 } as const;

/**
 * One client's WebSocket: each message is a turn, and the events of its response are sent back. The socket remembers
 * responses that are not stored, so that later turns can continue them. Running responses are stopped when the client
 * disconnects.
 */
export class ResponseSocket {
  readonly #local: LocalResponses;
  readonly #lanes: Lanes;
  readonly #gone = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  #alive = true;
  #received: Promise<void> = Promise.resolve();
  /** Number of messages that wait for their admission; bytes of these messages and of the turns that wait or run. */
  #receiving = 0;
  #bytes = 0;
  /** The reason why the socket takes no more turns. */
  #closing: MegaNestError | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: ResponseSocketOptions,
  ) {
    const { bounds } = options;
    this.#local = new LocalResponses({ maxCount: bounds.maxResponses, maxSize: bounds.maxContextSize });
    this.#lanes = new Lanes(bounds);
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('pong', () => (this.#alive = true));
    socket.once('close', () => this.#leave());
    this.#timers = [
      setInterval(() => this.#ping(), bounds.pingMs).unref(),
      setTimeout(() => void this.close(lifetimeOver()), bounds.lifetimeMs).unref(),
    ];
  }

  /** Takes no more turns, waits for the running ones, sends the reason and closes the connection. */
  async close(reason: MegaNestError): Promise<void> {
    if (this.#closing) return;
    this.#closing = reason;
    await this.#lanes.idle();
    await this.#send(errorMessage(reason));
    const { code } = reason;
    const closeCode =
      code === 'websocket_connection_limit_reached' ? closeCodes.limitReached : closeCodes.goingAway;
    this.socket.close(closeCode, code);
  }

  /** Messages are admitted one after another, so that turns keep their order. */
  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) return this.socket.close(closeCodes.unsupportedData, 'send JSON as text');
    // A client that sends without reading would fill the memory with error messages.
    if (this.socket.bufferedAmount > maxUnreadBytes || this.#receiving > maxReceiving)
      return this.socket.terminate();
    this.#receiving++;
    const held = this.#hold(data.length);
    // The data of a refused message is not kept in memory while the message waits for its turn.
    const taken =
      'refusal' in held ? () => this.#refuseHeld(held.refusal) : () => this.#take(data, held.release);
    this.#received = this.#received.then(taken).finally(() => this.#receiving--);
  }

  async #refuseHeld(refusal: unknown): Promise<void> {
    try {
      await this.options.admit();
      await this.#refuse(refusal, undefined);
    } catch (error) {
      await this.#refuse(error, undefined);
    }
  }

  /** Admits one message. A refused message counts against the rate limit, too. Never throws. */
  async #take(data: Buffer, release: () => void): Promise<void> {
    if (this.#gone.signal.aborted) return release();
    let message: SocketMessage | undefined;
    try {
      if (this.#closing) throw this.#closing;
      await this.options.admit();
      message = readSocketMessage(data.toString('utf8'));
      const { streamId = '' } = message;
      const taken = message;
      this.#lanes.add(streamId, () => this.#turn(taken).finally(release));
    } catch (error) {
      release();
      await this.#refuse(error, message);
    }
  }

  /** Reserves memory for a message, within the limits of this connection and of all connections. */
  #hold(bytes: number): { release: () => void } | { refusal: unknown } {
    try {
      if (this.#bytes > 0 && this.#bytes + bytes > this.options.bounds.maxBytes) {
        const detail = `${this.#bytes} bytes of waiting turns on this connection`;
        throw new MegaNestError('overloaded', { service: 'gateway', detail, retryAfter: 1 });
      }
      const release = this.options.hold(bytes);
      this.#bytes += bytes;
      return {
        release: () => {
          this.#bytes -= bytes;
          release();
        },
      };
    } catch (refusal) {
      return { refusal };
    }
  }

  /** One turn from its message to the last event of its response; never throws. */
  async #turn(message: SocketMessage): Promise<void> {
    if (this.#gone.signal.aborted) return;
    try {
      const turn = parseSocketTurn(message);
      const started = await this.options.start(turn, this.#newCall(), this.#local);
      await this.#follow(started, message);
    } catch (error) {
      await this.#refuse(error, message);
    }
  }

  async #follow({ plan, run }: StartedTurn, message: SocketMessage): Promise<void> {
    const headers = headersOf(plan, run);
    for await (const event of run.log.follow(-1, this.#gone.signal)) {
      // Before the client receives the end: it may continue the response at once, also on another lane.
      this.#remember(plan, event, message);
      const first = event.type === 'response.created';
      await this.#send({
        ...event,
        ...(first && headers && { headers }),
        ...laneField(message),
      });
    }
  }

  #remember(plan: ResponsePlan, event: ResponseEvent, { previousResponseId }: SocketMessage): void {
    if (event.type === 'response.failed') this.#forget(previousResponseId);
    if (event.type !== 'response.completed' && event.type !== 'response.incomplete') return;
    const { id, store, output } = event.response;
    if (store) return;
    const said: StoredItem[] = output.map((item) => ({ ...item }));
    this.#local.add(id, [...plan.context, ...plan.inputItems, ...said]);
  }

  /** Forgets the response after a failed continuation, because the client's view of the state may be wrong. */
  #forget(previousResponseId: string | undefined): void {
    if (previousResponseId !== undefined) this.#local.forget(previousResponseId);
  }

  async #refuse(thrown: unknown, message: SocketMessage | undefined): Promise<void> {
    const error = MegaNestError.from(thrown, 'gateway');
    this.#forget(message?.previousResponseId);
    await this.#send({ ...errorMessage(error), ...(message && laneField(message)) });
  }

  #newCall(): HttpCall {
    const { turnTimeoutMs, streamTimeoutMs } = this.options.bounds;
    return {
      requestId: randomUUID(),
      deadline: Date.now() + turnTimeoutMs,
      patience: new Patience(turnTimeoutMs, Date.now() + streamTimeoutMs),
      traceparent: this.options.traceparent,
      signal: this.#gone.signal,
    };
  }

  /** Resolves when the message has been sent, so that a slow client slows only its own stream. */
  #send(message: object): Promise<void> {
    if (this.socket.readyState !== this.socket.OPEN) return Promise.resolve();
    return new Promise((resolve) => this.socket.send(JSON.stringify(message), () => resolve()));
  }

  #ping(): void {
    if (!this.#alive) return this.socket.terminate();
    this.#alive = false;
    this.socket.ping();
  }

  #leave(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#gone.abort();
  }
}

function lifetimeOver(): MegaNestError {
  return new MegaNestError('websocket_connection_limit_reached');
}

/** The lane in an event. */
function laneField({ streamId }: SocketMessage): { stream_id?: string } {
  return streamId === undefined ? {} : { stream_id: streamId };
}

/** An error outside a response's log, with the HTTP status and headers of the same error over HTTP. */
function errorMessage(error: MegaNestError): object {
  const event = errorEvent(error);
  const seconds = retrySeconds(error);
  const headers = seconds !== undefined && { headers: { 'retry-after': String(seconds) } };
  return { ...event, error: { ...event.error, ...headers }, status: error.status, sequence_number: 0 };
}

/**
 * The headers for ignored fields and for missing steps. A WebSocket message has no headers, so the first event of a
 * response carries them.
 */
function headersOf(plan: ResponsePlan, run: ResponseRun): Record<string, string> | undefined {
  const { ignored = [], degraded = [] } = run.generation ?? {};
  const steps = [...degraded];
  const fields = [...plan.ignored, ...ignored];
  const headers = {
    ...(fields.length > 0 && { [ignoredHeaderName]: ignoredHeader(fields) }),
    ...(steps.length > 0 && { [degradedHeaderName]: ignoredHeader(steps) }),
  };
  return Object.keys(headers).length > 0 ? headers : undefined;
}

/** A client's message, parsed as far as necessary before its turn. */
interface SocketMessage {
  /** The lane of the turn. Lanes run concurrently; turns of one lane run in order. */
  streamId?: string;
  /** Id of the response that the turn continues; also read from an invalid request. */
  previousResponseId?: string;
  /** The request, unchecked. */
  body: Record<string, unknown>;
}

/** The request in one message. */
interface SocketTurn {
  request: ResponseRequest;
  /** `generate: false`: the context is prepared and kept, and no answer is generated. */
  warmUp: boolean;
}

const messageSchema = z.looseObject({
  type: z.literal('response.create', 'must be response.create'),
  stream_id: z
    .string()
    .regex(/^[\w.-]{1,256}$/, 'must be 1 to 256 letters, digits, dots, dashes')
    .nullish(),
});

/** Errors: invalid_json; invalid_request where the message is not a `response.create`. */
function readSocketMessage(text: string): SocketMessage {
  const { type: _type, stream_id, ...body } = parseOrThrow(messageSchema, parseJsonBody(text));
  const previous = body['previous_response_id'];
  return {
    body,
    streamId: stream_id ?? undefined,
    previousResponseId: typeof previous === 'string' ? previous : undefined,
  };
}

const turnSchema = z.looseObject({ generate: z.boolean().nullish(), background: z.boolean().nullish() });

/**
 * The request in a message: the fields of `POST /v1/responses`, and `generate`. `stream` has no effect, because a
 * WebSocket always streams. Errors: 400 with the field's path; unsupported_parameter for `background`.
 */
function parseSocketTurn(message: SocketMessage): SocketTurn {
  const { generate, background, stream: _stream, ...body } = parseOrThrow(turnSchema, message.body);
  if (background === true) {
    const reason = 'a response of a WebSocket ends with its turn; use POST /v1/responses';
    throw unsupportedField('background', reason);
  }
  const request = { ...parseOrThrow(createResponseSchema, body), stream: true };
  return { request, warmUp: generate === false };
}
