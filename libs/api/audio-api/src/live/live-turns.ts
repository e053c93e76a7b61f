import { randomUUID } from 'node:crypto';
import { MegaNestError } from '#platform/contracts';
import { errorEnvelope, type HttpCall, ignoredHeader, ignoredHeaderName } from '#platform/service-kit';
import { beginTranscript, finishTranscript, type Transcript, type Transcription } from '../transcription.js';
import { logprobsOf, usageOf } from '../transcript-formats.js';
import type { AudioBuffer } from './audio-buffer.js';
import type { Dialect, LiveSettings } from './live-settings.js';
import { pcmWav } from '#platform/foundation';

/**
 * LocalAgreement (Liu et al. 2020): while a turn is still being spoken, the words on which two consecutive
 * hypotheses agree are emitted, because later hypotheses seldom change them. Emitted text is never withdrawn.
 */
export class LocalAgreement {
  private told: string[] = [];
  private before: string[] = [];

  /** Adds a hypothesis; returns the newly agreed text. */
  add(hypothesis: string): string {
    const words = wordsOf(hypothesis);
    const agreed = words.findIndex((word, index) => word !== this.before[index]);
    this.before = words;
    return this.#tell(words.slice(0, agreed < 0 ? words.length : agreed));
  }

  /**
   * Returns the rest of the final text; empty if it contradicts the emitted text, which `completed` then corrects.
   */
  finish(text: string): string {
    return this.#tell(wordsOf(text));
  }

  #tell(words: readonly string[]): string {
    const { told } = this;
    if (words.length <= told.length || told.some((word, index) => word !== words[index])) return '';
    const news = words.slice(told.length).join(' ');
    const delta = told.length > 0 ? ` ${news}` : news;
    this.told = [...words];
    return delta;
  }
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** Options of {@link LiveTurns}. */
export interface LiveTurnsOptions {
  dialect: Dialect;
  transcription: Transcription;
  send: (event: object) => void;
  /** Creates a call that ends when the client disconnects. */
  newCall: () => HttpCall;
  /** The queue of turns is full, or not any more. */
  onBusy: (isBusy: boolean) => void;
  /** Turns are queued, or the last of them has ended. */
  onWaiting: (isWaiting: boolean) => void;
}

interface Turn {
  itemId: string;
  agreed: LocalAgreement;
}

/** Additional milliseconds of a turn after which it is transcribed again. */
const partialMs = 1_000;
/** Maximum number of queued turns before the client has to wait. */
const maxQueuedTurns = 4;

/** The turns of one connection: transcribed one after the other; the current turn is transcribed partially. */
export class LiveTurns {
  #turn: Turn | undefined;
  #previous: string | null = null;
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** The partial transcription of the current turn; it is aborted when the turn ends. */
  #partial: AbortController | undefined;
  /** Milliseconds of the current turn that were transcribed. */
  #transcribedMs = 0;

  constructor(private readonly options: LiveTurnsOptions) {}

  /** Starts a turn at the given time in milliseconds. */
  begin(at: number): void {
    const { itemId } = this.#open();
    this.options.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: at, item_id: itemId });
  }

  /** Transcribes the current turn partially if it has grown enough and the engine is idle. */
  transcribeSoFar(buffer: AudioBuffer, settings: LiveSettings): void {
    const turn = this.#turn;
    if (!turn || this.#partial || this.#waiting > 0 || buffer.milliseconds < this.#transcribedMs + partialMs)
      return;
    this.#transcribedMs = buffer.milliseconds;
    void this.#hearPartly(turn, buffer.peek(), settings);
  }

  /** Ends the current turn: at the given time in milliseconds, or at the client's request. */
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

  /** Resolves when every turn that was ended is transcribed. */
  async idle(): Promise<void> {
    while (this.#waiting > 0) await this.#work;
  }

  /** Discards the current turn. */
  drop(): void {
    this.#close();
  }

  #open(): Turn {
    return (this.#turn ??= { itemId: `item_${randomUUID()}`, agreed: new LocalAgreement() });
  }

  #close(): void {
    this.#turn = undefined;
    this.#transcribedMs = 0;
    this.#partial?.abort();
    this.#partial = undefined;
  }

  #count(change: 1 | -1): void {
    this.#waiting += change;
    if (this.#waiting === (change > 0 ? 1 : 0)) this.options.onWaiting(change > 0);
    if (change > 0 && this.#waiting === maxQueuedTurns) this.options.onBusy(true);
    if (change < 0 && this.#waiting === maxQueuedTurns - 1) this.options.onBusy(false);
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
      const transcript = await this.#transcribe(samples, settings, call);
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
      const { text } = await this.#transcribe(samples, { ...settings, logprobs: false }, { ...call, signal });
      if (!signal.aborted) this.#tell(turn, turn.agreed.add(text));
    } catch {
      // The whole turn is transcribed at its end; errors are reported then.
    } finally {
      if (this.#partial === partial) this.#partial = undefined;
    }
  }

  #tell({ itemId }: Turn, delta: string): void {
    if (!delta) return;
    const type = 'conversation.item.input_audio_transcription.delta';
    this.options.send({ type, item_id: itemId, content_index: 0, delta });
  }

  async #transcribe(samples: Int16Array, settings: LiveSettings, call: HttpCall): Promise<Transcript> {
    const { model, language, prompt, rate, logprobs } = settings;
    const audio = { bytes: pcmWav(samples, rate), filename: 'live.wav', mimeType: 'audio/wav' };
    const request = { audio, model, language, prompt, task: 'transcribe' as const, details: logprobs };
    return finishTranscript(await beginTranscript(this.options.transcription.transcribe(request, call)));
  }
}
