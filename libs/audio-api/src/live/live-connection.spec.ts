import { EventEmitter } from 'node:events';
import { MegaNestError, type TranscriptChunk } from '#contracts';
import type { HttpCall } from '#service-kit';
import type { WebSocket } from '@fastify/websocket';
import { describe, expect, it } from 'vitest';
import { Transcription, type TranscriptionRequest } from '../transcription.js';
import { LiveConnection, type LiveBounds } from './live-connection.js';

interface Event extends Record<string, unknown> {
  type: string;
}

/** A socket whose client is the test. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly sent: Event[] = [];
  closed: [number, string] | undefined;
  paused = 0;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Event);
    this.emit('sent');
  }

  close(code: number, reason: string): void {
    this.closed = [code, reason];
    this.readyState = 3;
    this.emit('close');
    this.emit('sent');
  }

  pause(): void {
    this.paused += 1;
  }

  resume(): void {
    this.paused -= 1;
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

  /** Waits for so many events of a type. */
  async until(type: string, count = 1): Promise<Event[]> {
    for (;;) {
      const found = this.sent.filter((event) => event.type === type);
      if (found.length >= count) return found;
      await new Promise((resolve) => this.once('sent', resolve));
    }
  }
}

/** Hears the words of a sentence, one for each half second. */
class FakeTranscription extends Transcription {
  readonly requests: TranscriptionRequest[] = [];
  readonly calls: HttpCall[] = [];
  failure: MegaNestError | undefined;

  override async *transcribe(request: TranscriptionRequest, call: HttpCall): AsyncGenerator<TranscriptChunk> {
    this.requests.push(request);
    this.calls.push(call);
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

function connect(options: { dialect?: 'ga' | 'beta'; bounds?: Partial<LiveBounds> } = {}) {
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

const prefix = 'conversation.item.input_audio_transcription';

describe('LiveConnection', () => {
  it('writes turns down, and what is sure already while they last', async () => {
    const { socket, transcription } = connect();
    socket.append(400, 0.001);
    for (let second = 1; second <= 2; second += 1) {
      socket.append(1_100, 0.5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.append(700, 0.001);
    const [completed] = await socket.until(`${prefix}.completed`);
    expect(completed).toMatchObject({
      transcript: 'one two three four five six',
      usage: { type: 'duration', seconds: 3 },
    });
    const types = [...new Set(socket.sent.map(({ type }) => type))];
    expect(types).toEqual([
      'session.created',
      'input_audio_buffer.speech_started',
      `${prefix}.delta`,
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      `${prefix}.completed`,
    ]);
    const deltas = socket.sent.filter(({ type }) => type === `${prefix}.delta`);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ delta }) => delta).join('')).toBe('one two three four five six');
    const ids = new Set(socket.sent.flatMap(({ item_id: id }) => (id ? [id] : [])));
    expect(ids.size).toBe(1);
    expect(transcription.requests.length).toBe(3);
  });

  it('lets the client say where turns end, in either spelling', async () => {
    const { socket, transcription } = connect({ dialect: 'beta' });
    const session = {
      turn_detection: null,
      input_audio_transcription: { model: 'm', language: 'en', prompt: 'Ports' },
      include: ['item.input_audio_transcription.logprobs'],
    };
    socket.say({ type: 'transcription_session.update', session });
    socket.append(1_000, 0.5);
    socket.say({ type: 'input_audio_buffer.clear' });
    socket.append(1_000, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    socket.append(600, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    const [first, second] = await socket.until(`${prefix}.completed`, 2);
    expect([first!['transcript'], second!['transcript']]).toEqual(['one two', 'one']);
    expect(first!['logprobs']).toMatchObject([{ token: 'one two', logprob: -1 }]);
    expect(transcription.requests[0]).toMatchObject({
      model: 'm',
      language: 'en',
      prompt: 'Ports',
      details: true,
    });
    const committed = await socket.until('input_audio_buffer.committed', 2);
    expect(committed[1]).toMatchObject({ previous_item_id: committed[0]!['item_id'] });
    expect(socket.sent.map(({ type }) => type)).toContain('transcription_session.updated');
    expect(socket.sent.map(({ type }) => type)).toContain('conversation.item.created');
  });

  it.each<[object, string]>([
    [{ type: 'response.create', event_id: 'e' }, 'type'],
    [{ type: 'input_audio_buffer.append', audio: '*', event_id: 'e' }, 'audio'],
    [{ type: 'input_audio_buffer.append', audio: 'AAAA', event_id: 'e' }, 'audio'],
    [{ type: 'input_audio_buffer.commit', event_id: 'e' }, 'audio'],
    [{ type: 'session.update', session: { type: 'realtime' }, event_id: 'e' }, 'session.type'],
  ])('answers %j with an error, and goes on', async (message, param) => {
    const { socket } = connect();
    socket.say(message);
    expect(socket.sent[1]).toMatchObject({
      type: 'error',
      error: { param, event_id: 'e', type: 'invalid_request_error' },
    });
    expect(socket.closed).toBeUndefined();
  });

  it('tells of a turn that cannot be heard', async () => {
    const { socket, transcription } = connect();
    transcription.failure = new MegaNestError('model_not_found', { model: 'x', available: 'm' });
    socket.append(500, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    const [failed] = await socket.until(`${prefix}.failed`);
    expect(failed).toMatchObject({ content_index: 0, error: { code: 'model_not_found' } });
  });

  it('makes a client wait that is faster than its audio is heard', async () => {
    const { socket } = connect();
    for (let turn = 0; turn < 6; turn += 1) {
      socket.append(500, 0.5);
      socket.say({ type: 'input_audio_buffer.commit' });
    }
    expect(socket.paused).toBe(1);
    await socket.until(`${prefix}.completed`, 6);
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.paused).toBe(0);
  });

  it('ends with its client, after too much audio, and after too long a silence', async () => {
    const { socket, transcription } = connect();
    socket.append(500, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    await socket.until(`${prefix}.completed`);
    socket.close(1000, '');
    expect(transcription.calls[0]!.signal.aborted).toBe(true);

    const long = connect({ bounds: { maxSeconds: 1 } }).socket;
    long.append(1_100, 0.5);
    expect(long.sent[1]).toMatchObject({
      type: 'error',
      error: { code: 'websocket_connection_limit_reached' },
    });
    expect(long.closed?.[0]).toBe(1008);

    const idle = connect({ bounds: { idleMs: 1 } }).socket;
    await new Promise((resolve) => idle.once('close', resolve));
    expect(idle.closed).toEqual([1000, 'idle']);
  });
});
