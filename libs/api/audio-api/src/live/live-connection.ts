import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { MegaNestError, parseOrThrow, invalidField } from '#platform/contracts';
import {
  errorEnvelope,
  parseJsonBody,
  type HttpCall,
  ignoredHeader,
  ignoredHeaderName,
} from '#platform/service-kit';
import type { WebSocket } from '@fastify/websocket';
import { z } from 'zod';
import { decodeBase64 } from '../asr.controller.js';
import { AudioBuffer, type TurnEvent } from './audio-buffer.js';
import { LiveTurns } from './live-turns.js';
import {
  sessionObject,
  updatedSettings,
  defaultSettings,
  type Dialect,
  type LiveSettings,
} from './live-settings.js';
import type { Transcription } from '../transcription.js';

/** Limits of a connection. */
export interface LiveBounds {
  /** Maximum seconds of audio. */
  maxSeconds: number;
  /** Milliseconds without a message until it is closed. */
  idleMs: number;
  /** Deadline of a turn in milliseconds. */
  turnTimeoutMs: number;
  /** Maximum bytes of one message. */
  maxMessageBytes: number;
}

/** Options of {@link LiveConnection}. */
export interface LiveConnectionOptions {
  bounds: LiveBounds;
  dialect: Dialect;
  transcription: Transcription;
  traceparent: string;
  /** The transcription model, unless an update names another. */
  model?: string;
}

const messageSchema = z.looseObject({ type: z.string(), event_id: z.string().max(512).optional() });
const appendSchema = z.looseObject({ audio: z.string() });
/** Minimum audio of a turn, in milliseconds. */
const minTurnMs = 100;
/** Maximum buffered audio if the client ends turns itself, in milliseconds. */
const maxBufferedMs = 300_000;
/** Maximum unread bytes of a client; above it the connection is closed. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** Maximum characters of an unknown message type in the error. */
const maxTypeLength = 64;
/** WebSocket close codes (RFC 6455). */
const closeCodes = { normal: 1000, goingAway: 1001, unsupportedData: 1003, limitReached: 1008 } as const;

/**
 * One client's WebSocket with OpenAI's Realtime API for transcription: audio comes in chunks, turns are detected
 * and transcribed, with agreed text during the turn. Work is aborted when the client disconnects.
 */
export class LiveConnection {
  readonly #id = `sess_${randomUUID()}`;
  readonly #gone = new AbortController();
  readonly #expiresAt: number;
  readonly #turns: LiveTurns;
  #settings: LiveSettings = defaultSettings;
  #buffer = new AudioBuffer(defaultSettings.rate, defaultSettings.turns);
  #seconds = 0;
  #idle: NodeJS.Timeout | undefined;
  /** Turns are queued. */
  #isWaiting = false;
  /** Why no more audio is taken. */
  #stopping: MegaNestError | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: LiveConnectionOptions,
  ) {
    const { bounds, dialect, transcription, model } = options;
    if (model !== undefined) this.#settings = { ...defaultSettings, model };
    this.#expiresAt = Date.now() + bounds.maxSeconds * 1000;
    this.#turns = new LiveTurns({
      dialect,
      transcription,
      send: (event) => this.#send(event),
      newCall: () => this.#newCall(),
      // Backpressure: a client that sends faster than its audio is transcribed waits.
      onBusy: (isBusy) => (isBusy ? socket.pause() : socket.resume()),
      // A client that waits for its text is not idle.
      onWaiting: (isWaiting) => this.#wait(isWaiting),
    });
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.once('close', () => this.#leave());
    this.#rest();
    this.#tellSession('created');
  }

  /**
   * Ends the current turn, transcribes the audio that was taken, and tells the client why the connection ends: it is to
   * connect again.
   */
  async stop(reason: MegaNestError): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = reason;
    if (this.#isWithinTurn() && this.#buffer.milliseconds >= minTurnMs)
      this.#turns.end(this.#buffer.take(), this.#settings);
    await this.#turns.idle();
    this.#send({ type: 'error', error: { ...errorEnvelope(reason).error, event_id: null } });
    this.#close(closeCodes.goingAway, reason.code);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    // Work in progress when the connection was closed.
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.#rest();
    if (isBinary) return this.#close(closeCodes.unsupportedData, 'send JSON as text');
    let eventId: string | undefined;
    try {
      if (this.#stopping) throw this.#stopping;
      if (Date.now() > this.#expiresAt) throw new MegaNestError('websocket_connection_limit_reached');
      const message = parseOrThrow(messageSchema, parseJsonBody(data.toString('utf8')));
      eventId = message.event_id;
      this.#handle(message);
    } catch (thrown) {
      const error = MegaNestError.from(thrown, 'asr');
      this.#send({ type: 'error', error: { ...errorEnvelope(error).error, event_id: eventId ?? null } });
      if (error.code === 'websocket_connection_limit_reached')
        this.#close(closeCodes.limitReached, error.code);
    }
  }

  #handle(message: z.output<typeof messageSchema>): void {
    const { type, session } = message;
    if (type === 'input_audio_buffer.append') return this.#append(parseOrThrow(appendSchema, message).audio);
    if (type === 'input_audio_buffer.commit') return this.#commit();
    if (type === 'input_audio_buffer.clear') {
      this.#buffer.take();
      this.#turns.drop();
      return this.#send({ type: 'input_audio_buffer.cleared' });
    }
    if (type === 'session.update') return this.#update(session, 'ga');
    if (type === 'transcription_session.update') return this.#update(session, 'beta');
    throw invalidField(
      'type',
      `${shortened(type)} is not known here; send session.update or input_audio_buffer.append, .commit or .clear`,
    );
  }

  #update(session: unknown, dialect: Dialect): void {
    const { settings, ignored } = updatedSettings(this.#settings, session, dialect);
    const { rate, turns } = settings;
    const isOther = rate !== this.#settings.rate || !isDeepStrictEqual(turns, this.#settings.turns);
    if (isOther && this.#isWithinTurn())
      throw invalidField(
        'session',
        'format and turn detection cannot change within a turn; commit or clear it first',
      );
    if (isOther) this.#buffer.change(rate, turns);
    this.#settings = settings;
    this.#tellSession('updated', ignored);
  }

  /** If the client ends turns itself, all buffered audio belongs to one turn. */
  #isWithinTurn(): boolean {
    return this.#settings.turns ? this.#buffer.isSpeaking : this.#buffer.milliseconds > 0;
  }

  #append(base64: string): void {
    const limits = { maxBytes: this.options.bounds.maxMessageBytes };
    const { bytes } = decodeBase64(base64, limits, 'audio');
    if (bytes.length % 2 === 1) throw invalidField('audio', 'must consist of whole 16-bit samples');
    this.#admit(bytes.length / 2 / this.#settings.rate);
    const samples = new Int16Array(Uint8Array.from(bytes).buffer);
    for (const event of this.#buffer.push(samples)) this.#follow(event);
    if (this.#buffer.isSpeaking) this.#turns.transcribeSoFar(this.#buffer, this.#settings);
  }

  #admit(seconds: number): void {
    this.#seconds += seconds;
    const { maxSeconds } = this.options.bounds;
    if (this.#seconds > maxSeconds) throw new MegaNestError('websocket_connection_limit_reached');
    if (!this.#settings.turns && this.#buffer.milliseconds + seconds * 1000 > maxBufferedMs)
      throw new MegaNestError('payload_too_large', {
        what: 'The audio buffer',
        limit: `${maxBufferedMs / 1000} seconds; commit it`,
        param: 'audio',
      });
  }

  #follow(event: TurnEvent): void {
    if (event.kind === 'started') return this.#turns.begin(event.at);
    this.#turns.end(event.samples, this.#settings, event.at);
  }

  #commit(): void {
    const { milliseconds } = this.#buffer;
    if (milliseconds < minTurnMs)
      throw new MegaNestError('invalid_request', {
        detail: `The buffer holds ${Math.round(milliseconds)} ms of audio; at least ${minTurnMs} ms are needed.`,
        param: 'audio',
      });
    this.#turns.end(this.#buffer.take(), this.#settings);
  }

  #tellSession(what: 'created' | 'updated', ignored: readonly string[] = []): void {
    const { dialect } = this.options;
    const type = `${dialect === 'beta' ? 'transcription_session' : 'session'}.${what}`;
    const session = sessionObject(this.#id, this.#settings, dialect, this.#expiresAt);
    const headers = { [ignoredHeaderName]: ignoredHeader(ignored) };
    this.#send({ type, session, ...(ignored.length > 0 && { headers }) });
  }

  #newCall(): HttpCall {
    return {
      requestId: randomUUID(),
      deadline: Date.now() + this.options.bounds.turnTimeoutMs,
      traceparent: this.options.traceparent,
      signal: this.#gone.signal,
    };
  }

  #send(event: object): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    // Such a client would not read a close frame either.
    if (this.socket.bufferedAmount > maxUnreadBytes) return this.socket.terminate();
    this.socket.send(JSON.stringify({ event_id: `event_${randomUUID()}`, ...event }));
  }

  /** Starts the idle timer, unless the client waits for its text. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#isWaiting || this.#gone.signal.aborted) return;
    const close = () => this.#close(closeCodes.normal, 'idle');
    this.#idle = setTimeout(close, this.options.bounds.idleMs).unref();
  }

  #wait(isWaiting: boolean): void {
    this.#isWaiting = isWaiting;
    this.#rest();
  }

  /** A paused socket would never read the client's close frame. */
  #close(code: number, reason: string): void {
    this.socket.resume();
    this.socket.close(code, reason);
  }

  #leave(): void {
    clearTimeout(this.#idle);
    this.#gone.abort();
  }
}

function shortened(type: string): string {
  return type.length > maxTypeLength ? `${type.slice(0, maxTypeLength)}…` : type;
}
