import { EventEmitter } from 'node:events';
import type { MegaNestError, TranscriptChunk } from '#platform/contracts';
import type { HttpCall } from '#platform/service-kit';
import type { WebSocket } from '@fastify/websocket';
import { Transcription, type TranscriptionRequest } from '../transcription.js';
import { LiveConnection, type LiveBounds } from './live-connection.js';

interface Event extends Record<string, unknown> {
  type: string;
}

/** A socket; the test is its client. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly sent: Event[] = [];
  closed: [number, string] | undefined;
  isPaused = false;
  /** Bytes that the client has not read. */
  bufferedAmount = 0;
  terminated = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Event);
    this.emit('sent');
  }

  close(code: number, reason: string): void {
    // Only a socket that is not paused reads a client's close frame.
    if (this.isPaused) return;
    this.closed = [code, reason];
    this.#end();
  }

  terminate(): void {
    this.terminated = true;
    this.#end();
  }

  #end(): void {
    this.readyState = 3;
    this.emit('close');
    this.emit('sent');
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  say(message: object): void {
    this.emit('message', Buffer.from(JSON.stringify(message)), false);
  }

  append(milliseconds: number, level: number, rate = 24_000): void {
    const samples = Int16Array.from(
      { length: (milliseconds * rate) / 1000 },
      (_, n) => 32_000 * level * Math.sin(n),
    );
    this.say({ type: 'input_audio_buffer.append', audio: Buffer.from(samples.buffer).toString('base64') });
  }

  /** Waits for `count` events of a type. */
  async until(type: string, count = 1): Promise<Event[]> {
    for (;;) {
      const found = this.sent.filter((event) => event.type === type);
      if (found.length >= count) return found;
      await new Promise((resolve) => this.once('sent', resolve));
    }
  }
}

/** Transcribes to the words of a sentence, one per half second. */
class FakeTranscription extends Transcription {
  override assertModel(): Promise<void> {
    return Promise.resolve();
  }

  readonly requests: TranscriptionRequest[] = [];
  readonly calls: HttpCall[] = [];
  failure: MegaNestError | undefined;
  /** Transcription waits for this promise. */
  hold: Promise<void> | undefined;

  override async *transcribe(request: TranscriptionRequest, call: HttpCall): AsyncGenerator<TranscriptChunk> {
    this.requests.push(request);
    this.calls.push(call);
    await this.hold;
    if (this.failure) throw this.failure;
    const seconds = (request.audio.bytes.length - 44) / 48_000;
    const text = 'one two three four five six'
      .split(' ')
      .slice(0, Math.floor(2 * seconds))
      .join(' ');
    yield { audio: { model: 'm', seconds, language: 'en', ignored: [] } };
    const logprobs = [{ token: text, logprob: -1 }];
    yield {
      segment: { id: 0, start: 0, end: seconds, text, tokens: [], avgLogprob: -1, temperature: 0, logprobs },
    };
  }
}

const bounds = { maxSeconds: 60, idleMs: 60_000, turnTimeoutMs: 5_000, maxMessageBytes: 1e6 };

/** Opens a connection; the test is the client, and a fake model transcribes. */
export function connect(options: { dialect?: 'ga' | 'beta'; bounds?: Partial<LiveBounds> } = {}) {
  const socket = new FakeSocket();
  const transcription = new FakeTranscription();
  const connection = new LiveConnection(socket as unknown as WebSocket, {
    bounds: { ...bounds, ...options.bounds },
    dialect: options.dialect ?? 'ga',
    transcription,
    traceparent: '',
  });
  return { socket, transcription, connection };
}
