import { randomUUID } from 'node:crypto';
import { MegaNestError } from '#contracts';
import { errorEnvelope, type HttpCall, ignoredHeader, ignoredHeaderName } from '#service-kit';
import { beginTranscript, finishTranscript, type Transcript } from '../transcript.js';
import { logprobsOf, usageOf } from '../transcript-formats.js';
import type { Transcription } from '../transcription.js';
import { AgreedText } from './agreed-text.js';
import type { AudioBuffer } from './audio-buffer.js';
import type { Dialect, LiveSettings } from './live-settings.js';
import { pcmWav } from '../pcm-wav.js';

export interface LiveTurnsOptions {
  dialect: Dialect;
  transcription: Transcription;
  send: (event: object) => void;
  /** A call that ends when the client leaves. */
  newCall: () => HttpCall;
  /** More turns wait than should, or no longer. */
  onBusy: (isBusy: boolean) => void;
  /** Turns have begun to wait, or the last of them has ended. */
  onWaiting: (isWaiting: boolean) => void;
}

interface Turn {
  itemId: string;
  agreed: AgreedText;
}

/** A turn is heard anew after so much more of it, in milliseconds. */
const partialMs = 1_000;
/** Turns that may wait before the client has to. */
const mostWaiting = 4;

/** The turns of one connection: written down one after the other, and the present one as far as it is sure. */
export class LiveTurns {
  #turn: Turn | undefined;
  #previous: string | null = null;
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Hears the present turn so far; a turn that ends does not wait for it. */
  #partial: AbortController | undefined;
  /** Milliseconds of the present turn that were heard. */
  #heardMs = 0;

  constructor(private readonly options: LiveTurnsOptions) {}

  /** A turn has begun at so many milliseconds. */
  begin(at: number): void {
    const { itemId } = this.#open();
    this.options.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: at, item_id: itemId });
  }

  /** Hears the present turn so far, where it has grown enough and nothing else is heard. */
  hearSoFar(buffer: AudioBuffer, settings: LiveSettings): void {
    const turn = this.#turn;
    if (!turn || this.#partial || this.#waiting > 0 || buffer.milliseconds < this.#heardMs + partialMs)
      return;
    this.#heardMs = buffer.milliseconds;
    void this.#hearPartly(turn, buffer.peek(), settings);
  }

  /** The present turn has ended, by itself at so many milliseconds or because the client says so. */
  end(samples: Int16Array, settings: LiveSettings, at?: number): void {
    const turn = this.#open();
    this.#close();
    const { send } = this.options;
    const { itemId } = turn;
    if (at !== undefined)
      send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: at, item_id: itemId });
    send({ type: 'input_audio_buffer.committed', previous_item_id: this.#previous, item_id: itemId });
    this.#announce(itemId);
    this.#previous = itemId;
    this.#count(1);
    this.#work = this.#work.then(() => this.#write(turn, samples, settings)).finally(() => this.#count(-1));
  }

  /** Forgets the present turn. */
  drop(): void {
    this.#close();
  }

  #open(): Turn {
    return (this.#turn ??= { itemId: `item_${randomUUID()}`, agreed: new AgreedText() });
  }

  #close(): void {
    this.#turn = undefined;
    this.#heardMs = 0;
    this.#partial?.abort();
    this.#partial = undefined;
  }

  #count(change: 1 | -1): void {
    this.#waiting += change;
    if (this.#waiting === (change > 0 ? 1 : 0)) this.options.onWaiting(change > 0);
    if (change > 0 && this.#waiting === mostWaiting) this.options.onBusy(true);
    if (change < 0 && this.#waiting === mostWaiting - 1) this.options.onBusy(false);
  }

  #announce(id: string): void {
    const { dialect, send } = this.options;
    const content = [{ type: 'input_audio', transcript: null }];
    const item = { id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content };
    const types = dialect === 'beta' ? ['created'] : ['added', 'done'];
    for (const type of types)
      send({ type: `conversation.item.${type}`, previous_item_id: this.#previous, item });
  }

  async #write(turn: Turn, samples: Int16Array, settings: LiveSettings): Promise<void> {
    const call = this.options.newCall();
    if (call.signal.aborted) return;
    const place = { item_id: turn.itemId, content_index: 0 };
    const type = 'conversation.item.input_audio_transcription';
    try {
      const transcript = await this.#hear(samples, settings, call);
      const { ignored } = transcript.audio;
      this.#tell(turn, turn.agreed.finish(transcript.text));
      this.options.send({
        type: `${type}.completed`,
        ...place,
        transcript: transcript.text,
        ...(settings.logprobs && { logprobs: transcript.segments.flatMap(logprobsOf) }),
        usage: usageOf(transcript),
        ...(ignored.length > 0 && { headers: { [ignoredHeaderName]: ignoredHeader(ignored) } }),
      });
    } catch (thrown) {
      const { error } = errorEnvelope(MegaNestError.from(thrown, 'asr'));
      this.options.send({ type: `${type}.failed`, ...place, error });
    }
  }

  async #hearPartly(turn: Turn, samples: Int16Array, settings: LiveSettings): Promise<void> {
    const partial = new AbortController();
    this.#partial = partial;
    const call = this.options.newCall();
    const signal = AbortSignal.any([call.signal, partial.signal]);
    try {
      const { text } = await this.#hear(samples, { ...settings, logprobs: false }, { ...call, signal });
      if (!signal.aborted) this.#tell(turn, turn.agreed.add(text));
    } catch {
      // The whole turn is heard at its end; what keeps that from being done is told then.
    } finally {
      if (this.#partial === partial) this.#partial = undefined;
    }
  }

  #tell({ itemId }: Turn, delta: string): void {
    if (!delta) return;
    const type = 'conversation.item.input_audio_transcription.delta';
    this.options.send({ type, item_id: itemId, content_index: 0, delta });
  }

  async #hear(samples: Int16Array, settings: LiveSettings, call: HttpCall): Promise<Transcript> {
    const { model, language, prompt, rate, logprobs } = settings;
    const audio = { bytes: pcmWav(samples, rate), filename: 'live.wav', mimeType: 'audio/wav' };
    const request = { audio, model, language, prompt, task: 'transcribe' as const, details: logprobs };
    return finishTranscript(await beginTranscript(this.options.transcription.transcribe(request, call)));
  }
}
