import { MegaNestError } from '#platform/contracts';
import { stoppingError } from '#platform/service-kit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connect } from './live-connection.fixture.js';

const prefix = 'conversation.item.input_audio_transcription';

afterEach(() => {
  vi.useRealTimers();
});

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

  it('reports a turn that cannot be transcribed', async () => {
    const { socket, transcription } = connect();
    transcription.failure = new MegaNestError('model_not_found', { model: 'x', available: 'm' });
    socket.append(500, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    const [failed] = await socket.until(`${prefix}.failed`);
    expect(failed).toMatchObject({ content_index: 0, error: { code: 'model_not_found' } });
  });

  it('applies backpressure to a client that sends faster than its audio is transcribed', async () => {
    const { socket } = connect();
    for (let turn = 0; turn < 6; turn += 1) {
      socket.append(500, 0.5);
      socket.say({ type: 'input_audio_buffer.commit' });
    }
    expect(socket.isPaused).toBe(true);
    await socket.until(`${prefix}.completed`, 6);
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.isPaused).toBe(false);
  });

  it('transcribes what it took before its service stops, and tells the client to connect again', async () => {
    const { socket, connection } = connect();
    socket.append(700, 0.5);
    const stopped = connection.stop(stoppingError());
    socket.append(500, 0.5);
    await stopped;
    expect(await socket.until(`${prefix}.completed`)).toMatchObject([{ transcript: 'one' }]);
    // The audio that came too late is refused, and the last words are why the connection ends.
    const refused = { type: 'error', error: { code: 'service_unavailable' } };
    expect(await socket.until('error')).toMatchObject([refused, refused]);
    expect([socket.sent.at(-1)?.type, socket.closed]).toEqual(['error', [1001, 'service_unavailable']]);
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

  it('cuts off a client that does not read, and tells little of what it does not know', () => {
    const { socket, transcription } = connect();
    socket.say({ type: 'x'.repeat(100_000), event_id: 'e' });
    socket.say({ type: 'response.create', event_id: 'e'.repeat(100_000) });
    expect(socket.sent.slice(1)).toMatchObject([
      { error: { param: 'type' } },
      { error: { param: 'event_id' } },
    ]);
    expect(JSON.stringify(socket.sent).length).toBeLessThan(2_500);
    socket.bufferedAmount = 4 * 1024 * 1024;
    socket.say({ type: 'input_audio_buffer.clear' });
    expect(socket.terminated).toBe(false);
    socket.bufferedAmount += 1;
    socket.say({ type: 'input_audio_buffer.clear' });
    expect(socket.terminated).toBe(true);
    expect(socket.sent).toHaveLength(4);
    expect(transcription.requests).toEqual([]);
  });

  it.each([1, 4])('does not take a client for idle while %i of its turns wait', async (turns) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { socket, transcription } = connect({ bounds: { idleMs: 1_000 } });
    let release = () => {};
    transcription.hold = new Promise((resolve) => (release = resolve));
    for (let turn = 0; turn < turns; turn += 1) {
      socket.append(500, 0.5);
      socket.say({ type: 'input_audio_buffer.commit' });
    }
    expect(socket.isPaused).toBe(turns === 4);
    vi.advanceTimersByTime(10_000);
    expect(socket.readyState).toBe(1);
    release();
    await socket.until(`${prefix}.completed`, turns);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(999);
    expect(socket.readyState).toBe(1);
    vi.advanceTimersByTime(1);
    expect(socket.closed).toEqual([1000, 'idle']);
  });

  it('closes a socket that it has paused so that the close frame is read, and starts no timer after', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { socket, transcription } = connect();
    let release = () => {};
    transcription.hold = new Promise((resolve) => (release = resolve));
    for (let turn = 0; turn < 4; turn += 1) {
      socket.append(500, 0.5);
      socket.say({ type: 'input_audio_buffer.commit' });
    }
    expect(socket.isPaused).toBe(true);
    // It was read together with the last commit.
    socket.emit('message', Buffer.from('x'), true);
    expect(socket.closed?.[0]).toBe(1003);
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lives no longer than it may, whatever it is sent', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { socket } = connect({ bounds: { maxSeconds: 120 } });
    for (let minute = 1; minute <= 3; minute += 1) {
      vi.advanceTimersByTime(50_000);
      socket.say({ type: 'input_audio_buffer.clear' });
    }
    expect(socket.sent.map(({ type }) => type)).toEqual([
      'session.created',
      'input_audio_buffer.cleared',
      'input_audio_buffer.cleared',
      'error',
    ]);
    expect(socket.closed).toEqual([1008, 'websocket_connection_limit_reached']);
    // What the client had sent by then has no effect.
    socket.closed = undefined;
    socket.say({ type: 'input_audio_buffer.clear' });
    expect(socket.closed).toBeUndefined();
    expect(socket.sent).toHaveLength(4);
  });

  it('takes an unchanged session at any time, and a changed one between turns', async () => {
    const { socket } = connect();
    const { session } = socket.sent[0] as unknown as { session: { audio: { input: object } } };
    const changed = (input: object) => ({
      type: 'transcription',
      audio: { input: { ...session.audio.input, ...input } },
    });
    const last = () => socket.sent.at(-1);
    socket.append(1_010, 0.001);
    socket.say({
      type: 'session.update',
      session: changed({ turn_detection: { silence_duration_ms: 300 } }),
    });
    expect(last()).toMatchObject({ type: 'session.updated' });
    socket.append(500, 0.5);
    const [started] = await socket.until('input_audio_buffer.speech_started');
    expect(started).toMatchObject({ audio_start_ms: 700 });
    socket.say({
      type: 'session.update',
      session: changed({ turn_detection: { silence_duration_ms: 300 } }),
    });
    expect(last()).toMatchObject({ type: 'session.updated' });
    socket.say({ type: 'session.update', session: changed({ turn_detection: null }) });
    expect(last()).toMatchObject({ type: 'error', error: { param: 'session' } });
    socket.append(400, 0);
    await socket.until('input_audio_buffer.committed');

    socket.say({ type: 'session.update', session: changed({ turn_detection: null }) });
    socket.append(600, 0.5);
    socket.say({ type: 'session.update', session: changed({ turn_detection: null }) });
    expect(last()).toMatchObject({ type: 'session.updated' });
    for (const other of [
      session.audio.input,
      { turn_detection: null, format: { type: 'audio/pcm', rate: 8_000 } },
    ]) {
      socket.say({ type: 'session.update', session: changed(other) });
      expect(last()).toMatchObject({ type: 'error', error: { param: 'session' } });
    }
    socket.say({ type: 'input_audio_buffer.commit' });
    const [, byHand] = await socket.until(`${prefix}.completed`, 2);
    expect(byHand).toMatchObject({ transcript: 'one' });
  });

  it('keeps the audio of a commit that it refuses', async () => {
    const { socket } = connect({ dialect: 'beta' });
    socket.say({ type: 'transcription_session.update', session: { turn_detection: null } });
    socket.append(90, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    expect(socket.sent.at(-1)).toMatchObject({ type: 'error', error: { param: 'audio' } });
    socket.append(410, 0.5);
    socket.say({ type: 'input_audio_buffer.commit' });
    const [completed] = await socket.until(`${prefix}.completed`);
    expect(completed).toMatchObject({ transcript: 'one', usage: { seconds: 1 } });
  });

  it('names what has no effect', () => {
    const { socket } = connect();
    const audio = { input: { turn_detection: { create_response: true } } };
    socket.say({ type: 'session.update', session: { type: 'transcription', audio, tools: [] } });
    expect(socket.sent.at(-1)).toMatchObject({
      type: 'session.updated',
      headers: { 'x-meganest-ignored': 'audio.input.turn_detection.create_response, tools' },
    });
  });
});
