import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtFile, eventsOf } from '#platform/foundation';
import { MegaNestError, type ModelInfo, type TranscriptSegment } from '#platform/contracts';
import {
  engineSettings,
  ModelLoadError,
  canCompileSpeech,
  resolveModel,
  describeWeights,
  WorkerChannel,
  type ModelLoadOptions,
  type EngineChoice,
  type EngineSettings,
  type Device,
} from '#engine/models';

/** A request to transcribe or translate an audio file. */
export interface TranscribeRequest {
  /** The content of the file. */
  readonly audio: Uint8Array;
  /** File name for error messages. */
  readonly filename?: string;
  readonly task?: 'transcribe' | 'translate';
  /** ISO 639-1, e.g. `en`; default: the model's language, or the one it detects. */
  readonly language?: string;
  /** Preceding text, or names and spellings; only some models use it. */
  readonly prompt?: string;
  readonly temperature?: number;
  /** Include word times and log probabilities. */
  readonly details?: boolean;
}

/** Events of a transcription: first the decoded audio, then each segment with text. */
export type TranscriptEvent =
  | {
      readonly kind: 'audio';
      readonly seconds: number;
      readonly language: string;
      /** Request fields that this model ignores. */
      readonly ignored: readonly string[];
    }
  /** `done`: seconds of audio that are finished. */
  | { readonly kind: 'segment'; readonly segment: TranscriptSegment; readonly done: number };

/** A speech recognition model. */
export interface Transcriber {
  readonly info: ModelInfo;
  readonly fallback?: string;
  /**
   * Streams the transcript, segment by segment. Aborting the signal or ending the iteration stops the work at the
   * next segment. Errors: unsupported_file, payload_too_large, unsupported_parameter (a language or task that the
   * model does not support), overloaded, cancelled, service_unavailable.
   */
  transcribe(request: TranscribeRequest, signal?: AbortSignal): AsyncGenerator<TranscriptEvent, void, void>;
  /** Checks the model with a short run. Errors: service_unavailable. */
  check(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Settings with which the worker loads its model. */
export interface TranscriberSettings {
  readonly id: string;
  readonly directory: string;
  readonly device: Device;
  readonly threads: number;
  readonly engine: EngineSettings;
  readonly maxSeconds: number;
  readonly beams: number;
  /** Maximum number of windows that a Whisper model decodes in a batch. */
  readonly windows: number;
  /** File of Silero's detector; without it an energy threshold detects speech. */
  readonly voiceModel?: string;
}

/** First message of the worker: the engine that was chosen. */
export interface TranscriberReady extends EngineChoice {
  readonly backend: string;
  /** Number of files that a thread transcribes concurrently. */
  readonly maxConcurrentFiles: number;
}

/** Refuses a task or a language that a model does not support. Errors: unsupported_parameter. */
export function checkRequest(
  { language, task }: TranscribeRequest,
  model: { id: string; languages: readonly string[]; translates: boolean },
): void {
  const { id, languages, translates } = model;
  if (task === 'translate' && !translates)
    throw new MegaNestError('unsupported_parameter', {
      detail: `${id} can transcribe, but it cannot translate.`,
      param: 'model',
    });
  if (language !== undefined && !languages.includes(language.toLowerCase()))
    throw new MegaNestError('unsupported_parameter', {
      detail: `language: ${id} supports ${languages.join(', ')}, not ${language}`,
      param: 'language',
    });
}

/** Options of {@link loadTranscriber}. */
interface TranscriberLoadOptions extends ModelLoadOptions {
  /**
   * Number of threads, each with the model. A CTC model transcribes one file per thread, Whisper several. Default
   * 2.
   */
  readonly workers?: number;
  /** Maximum number of queued files; default 32. */
  readonly queueCapacity?: number;
  /** Longer audio is refused, in seconds; default 2 hours. */
  readonly maxSeconds?: number;
  /** Number of prefixes in the beam search of a CTC model; 1 is greedy search. Default 32. */
  readonly beams?: number;
  /**
   * Maximum number of windows, of one or several files, that a Whisper model decodes in a batch per thread. Default
   * 4.
   */
  readonly windows?: number;
  /** `silero_vad.onnx`, or a folder with it. Without it an energy threshold detects speech. */
  readonly voiceModel?: string;
}

type AsrChannel = WorkerChannel<TranscriberReady, TranscribeRequest, TranscriptEvent, undefined>;

/**
 * Loads a speech recognition model, Whisper or CTC: a bundled name, a folder, or an id on the Hugging Face hub.
 * Errors: ModelLoadError.
 */
export async function loadTranscriber(
  source: string,
  options: TranscriberLoadOptions = {},
): Promise<Transcriber> {
  const { id, directory } = await resolveModel(source, options, canCompileSpeech);
  const settings: TranscriberSettings = {
    id,
    directory,
    device: options.device ?? 'auto',
    threads: 1,
    engine: engineSettings(directory, options),
    maxSeconds: options.maxSeconds ?? 7_200,
    beams: options.beams ?? 32,
    windows: options.windows ?? 4,
    ...(options.voiceModel && { voiceModel: voiceModelFile(options.voiceModel) }),
  };
  const entry = builtFile('asr.worker');
  const channels: AsrChannel[] = Array.from(
    { length: options.workers ?? 2 },
    () => new WorkerChannel(entry, settings, options.hangLimitMs),
  );
  try {
    // The first thread loads alone, because it compiles the model for all.
    const { backend, weightsFile, fallback, maxConcurrentFiles } = await channels[0]!.start();
    await Promise.all(channels.map((channel) => channel.start()));
    const weights = await describeWeights(weightsFile, settings.engine.compiledDirectory);
    const info = { id, ...weights, backend, maxInputTokens: 0 };
    const limits = { maxConcurrentFiles, queueCapacity: options.queueCapacity ?? 32 };
    return new OnnxTranscriber(info, channels, limits, fallback);
  } catch (error) {
    await Promise.all(channels.map((channel) => channel.close()));
    throw error;
  }
}

function voiceModelFile(source: string): string {
  const candidates = [join(source, 'silero_vad.onnx'), join(source, 'onnx', 'model.onnx'), source];
  const file = candidates.find((candidate) => candidate.endsWith('.onnx') && existsSync(candidate));
  if (!file) throw new ModelLoadError(`${resolve(source)} does not contain silero_vad.onnx.`);
  return file;
}

class OnnxTranscriber implements Transcriber {
  /** Idle threads, one entry per file that they can take; neighbors differ, which spreads the load. */
  private readonly idle: AsrChannel[];
  private readonly waiting: ((channel: AsrChannel) => void)[] = [];

  constructor(
    readonly info: ModelInfo,
    private readonly channels: readonly AsrChannel[],
    private readonly limits: { maxConcurrentFiles: number; queueCapacity: number },
    readonly fallback?: string,
  ) {
    this.idle = Array.from({ length: limits.maxConcurrentFiles }, () => channels).flat();
  }

  async *transcribe(
    request: TranscribeRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<TranscriptEvent, void, void> {
    const channel = await this.#acquire(signal);
    yield* eventsOf<TranscriptEvent>(
      (onEvent, ended) =>
        channel.call(request, { signal: ended, onEvent }).finally(() => this.#release(channel)),
      signal,
    );
  }

  async check(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.start()));
  }

  async close(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.close()));
  }

  async #acquire(signal?: AbortSignal): Promise<AsrChannel> {
    if (signal?.aborted) throw new MegaNestError('cancelled');
    const free = this.idle.shift();
    if (free) return free;
    if (this.waiting.length >= this.limits.queueCapacity)
      throw new MegaNestError('overloaded', {
        service: 'asr',
        detail: `${this.waiting.length} files waiting`,
        retryAfter: 5,
      });
    return new Promise((resolve, reject) => {
      const take = (channel: AsrChannel) => {
        signal?.removeEventListener('abort', leave);
        resolve(channel);
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(take), 1);
        reject(new MegaNestError('cancelled'));
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.waiting.push(take);
    });
  }

  #release(channel: AsrChannel): void {
    const next = this.waiting.shift();
    if (next) next(channel);
    else this.idle.push(channel);
  }
}
