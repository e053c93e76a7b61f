import { MegaNestError, parseOrThrow, Patience, unsupportedField } from '#contracts';
import {
  createResponseSchema,
  errorEvent,
  type ResponseEvent,
  type ResponseRequest,
  type StoredItem,
} from '#responses';
import { ignoredHeader, ignoredHeaderName, parseJsonBody, type HttpCall } from '#service-kit';
import type { WebSocket } from '@fastify/websocket';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ResponsePlan } from '../context/response-plan.js';
import type { ResponseRun } from '../execution/response-run.js';
import { Lanes } from './lanes.js';
import { LocalResponses } from './local-responses.js';

/** What one connection may hold and how long it may live. */
export interface SocketBounds {
  maxLanes: number;
  /** Turns that wait or run. */
  maxTurns: number;
  /** Bytes of the messages of those turns; a single one may have more. */
  maxBytes: number;
  /** Responses with `store: false` that it may continue, and the size of their contexts in characters. */
  maxResponses: number;
  maxContextSize: number;
  /** Milliseconds between pings; a client that answered none of them in between is gone. */
  pingMs: number;
  /** Longest life of a connection in milliseconds. */
  lifetimeMs: number;
  /** Deadline of a turn in milliseconds. */
  turnTimeoutMs: number;
  /** Of a turn, however steadily it is answered. */
  streamTimeoutMs: number;
}

/** A response that a turn has led to. */
export interface StartedTurn {
  plan: ResponsePlan;
  run: ResponseRun;
}

export interface ResponseSocketOptions {
  bounds: SocketBounds;
  /** Trace that the turns belong to. */
  traceparent: string;
  /** Throws where the client has sent too much. */
  admit: () => Promise<void>;
  /** Counts bytes of messages among those of all clients; answers their release. Errors: overloaded. */
  hold: (bytes: number) => () => void;
  /** Starts a turn's response. Errors: whatever keeps it from its first token. */
  start: (turn: SocketTurn, call: HttpCall, local: LocalResponses) => Promise<StartedTurn>;
}

/** Bytes that may wait for a client to read them, and messages that may wait to be looked at. */
const mostUnreadBytes = 4 * 1024 * 1024;
const mostReceiving = 1000;

/** WebSocket close codes (RFC 6455). */
const closeCodes = { goingAway: 1001, unsupportedData: 1003, limitReached: 1008 } as const;

/**
 * One client's WebSocket: each message is a turn, whose response's log goes back event by event. It remembers the
 * responses that are kept nowhere else, so that the next turns can continue them. What runs is stopped when the client
 * goes away.
 */
export class ResponseSocket {
  readonly #local: LocalResponses;
  readonly #lanes: Lanes;
  readonly #gone = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  #alive = true;
  #received: Promise<void> = Promise.resolve();
  /** Messages that were not looked at yet; and bytes of these, and of the turns that wait or run. */
  #receiving = 0;
  #bytes = 0;
  /** Why no more turns are taken. */
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

  /** Takes no more turns, waits for those that were taken, and closes the connection, saying why. */
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
    // A client that sends and does not read would fill the memory with refusals.
    if (this.socket.bufferedAmount > mostUnreadBytes || this.#receiving > mostReceiving)
      return this.socket.terminate();
    this.#receiving++;
    const held = this.#hold(data.length);
    // A message that is refused is not kept until its turn to be refused comes.
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

  /** Every message counts, also one that is refused. Never throws. */
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

  /** Room for a message, of this connection and of all. */
  #hold(bytes: number): { release: () => void } | { refusal: unknown } {
    try {
      if (this.#bytes > 0 && this.#bytes + bytes > this.options.bounds.maxBytes) {
        const detail = `${this.#bytes} bytes of turns of this connection waiting`;
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
    const headers = ignoredFieldsHeader(plan, run);
    for await (const event of run.log.follow(-1, this.#gone.signal)) {
      // Before the client knows that it ended: it may go on at once, on another lane too.
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

  /** A continuation that failed cannot be tried again: the client's idea of the state may be wrong. */
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

  /** Resolves when the message has left, so that a slow client slows its own stream only. */
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

/** Events of a lane say which one. */
function laneField({ streamId }: SocketMessage): { stream_id?: string } {
  return streamId === undefined ? {} : { stream_id: streamId };
}

/** An error outside a response's log: with the HTTP status and headers that it would have had. */
function errorMessage(error: MegaNestError): object {
  const event = errorEvent(error);
  const headers = error.retryAfter && { headers: { 'retry-after': String(error.retryAfter) } };
  return { ...event, error: { ...event.error, ...headers }, status: error.status, sequence_number: 0 };
}

/** A socket has no head to say what was ignored in: the first event of a response carries it. */
function ignoredFieldsHeader(plan: ResponsePlan, run: ResponseRun): Record<string, string> | undefined {
  const ignored = [...new Set([...plan.ignored, ...(run.generation?.ignored ?? [])])];
  return ignored.length > 0 ? { [ignoredHeaderName]: ignoredHeader(ignored) } : undefined;
}

/** A client's message as far as it has to be understood before its turn comes. */
interface SocketMessage {
  /** The lane of the turn; lanes run beside each other, turns of one lane in order. */
  streamId?: string;
  /** What the turn continues, whether or not it is a valid request. */
  previousResponseId?: string;
  /** What it asks for, unchecked. */
  body: Record<string, unknown>;
}

/** What a client asks for in one message. */
interface SocketTurn {
  request: ResponseRequest;
  /** `generate: false`: the context is prepared and kept, nothing is written. */
  warmUp: boolean;
}

const messageSchema = z.looseObject({
  type: z.literal('response.create', 'must be response.create'),
  stream_id: z
    .string()
    .regex(/^[\w.-]{1,256}$/, 'must be 1 to 256 letters, digits, dots, dashes')
    .nullish(),
});

/** Errors: invalid_json; invalid_request where it is no `response.create`. */
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
 * The request in a message: the fields of `POST /v1/responses`, and `generate`. `stream` says nothing here, for a socket
 * always streams. Errors: 400 with the field's path; unsupported_parameter for `background`.
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
