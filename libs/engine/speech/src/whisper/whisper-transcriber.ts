import {
  chooseEngine,
  type EngineChoice,
  type EngineSettings,
  type SessionSettings,
  ModelLoadError,
  TextTokenizer,
  TokenVocabulary,
  type CallContext,
} from '#engine/models';
import type { TranscriptSegment } from '#platform/contracts';
import { ExportedSession } from './exported-session.js';
import { type WhisperBackend, thresholds, WhisperEngine } from './whisper-engine.js';
import { WhisperSession } from './whisper-session.js';
import { type WhisperSettings, readWhisperSettings } from './whisper-settings.js';
import { decodeAudio } from '../audio/decode-audio.js';
import {
  checkRequest,
  type TranscribeRequest,
  type TranscriberReady,
  type TranscriberSettings,
  type TranscriptEvent,
} from '../transcriber.js';
import {
  openVoiceDetector,
  joinSpans,
  type SampleSpan,
  detectorRate,
  type VoiceDetector,
} from '../vad/voice-detectors.js';
import { round, splitWindow, type WindowSegment, tokenTimes, wordsOf } from './timestamps.js';
import type { WindowTranscript } from './whisper-sequence.js';

/** Loads the compiled model of a folder with safetensors, otherwise its exported graphs. Errors: ModelLoadError. */
export function openBackend(
  directory: string,
  engine: EngineSettings,
  settings: SessionSettings,
  whisper: WhisperSettings,
): Promise<{ loaded: WhisperBackend; choice: EngineChoice }> {
  return chooseEngine<WhisperBackend>(directory, engine, {
    compiled: () => WhisperSession.load(directory, engine, settings, whisper),
    exporter: (file) => ExportedSession.load(directory, file, settings),
  });
}

/** Temperature fallback of the reference implementation: if the text is poor, the next temperature is tried. */
const fallbackTemperatures = [0, 0.2, 0.4, 0.6, 0.8, 1];
/** A shorter rest of a span is not transcribed, in seconds. */
const minRestSeconds = 0.1;

interface Parts {
  session: WhisperBackend;
  choice: EngineChoice;
  settings: WhisperSettings;
  engine: WhisperEngine;
  tokenizer: TextTokenizer;
  vocabulary: TokenVocabulary;
  voices: VoiceDetector;
}

/** A segment without its id, in seconds of the audio. */
type Segment = Omit<TranscriptSegment, 'id'>;

/** Transcribes and translates with a Whisper model, in a worker thread; several files share its batches. */
export class WhisperTranscriber {
  private constructor(
    private readonly options: TranscriberSettings,
    private readonly parts: Parts,
  ) {}

  /** Loads the model. Errors: ModelLoadError, UnsupportedModelError. */
  static async load(options: TranscriberSettings): Promise<WhisperTranscriber> {
    const { directory, device, threads, windows } = options;
    const settings = await readWhisperSettings(directory);
    if (settings.audio.sampling_rate !== detectorRate)
      throw new ModelLoadError(
        `${directory}: expects ${settings.audio.sampling_rate} Hz; only 16000 Hz is supported.`,
      );
    const sessionSettings = { device, threads };
    const { loaded, choice } = await openBackend(directory, options.engine, sessionSettings, settings);
    const vocabulary = await TokenVocabulary.load(directory);
    const engine = new WhisperEngine(loaded, settings, vocabulary, windows);
    const tokenizer = await TextTokenizer.load(directory);
    const voices = await openVoiceDetector(options.voiceModel);
    const parts = { session: loaded, choice, settings, engine, tokenizer, vocabulary, voices };
    return new WhisperTranscriber(options, parts);
  }

  get ready(): TranscriberReady {
    const { session, choice } = this.parts;
    return { backend: session.backend, ...choice, maxConcurrentFiles: this.options.windows };
  }

  /** Decodes the file and emits its transcript, span by span. Errors: see Transcriber.transcribe. */
  async transcribe(request: TranscribeRequest, context: CallContext<TranscriptEvent>): Promise<void> {
    const { languages, tasks } = this.parts.settings;
    checkRequest(request, {
      id: this.options.id,
      languages: languages.size > 0 ? [...languages.keys()] : ['en'],
      translates: tasks.has('translate'),
    });
    const { signal } = context;
    const samples = await decodeAudio(request.audio, {
      sampleRate: detectorRate,
      maxSeconds: this.options.maxSeconds,
      filename: request.filename,
      signal,
    });
    const spans = await this.#spansOf(samples, signal);
    const [first, ...others] = spans;
    const opening = first && (await this.#transcribeSpan(samples, first, request, signal));
    const language = opening?.language ?? request.language?.toLowerCase() ?? this.#usualLanguage();
    const seconds = samples.length / detectorRate;
    context.emit({ kind: 'audio', seconds, language, ignored: this.#ignoredFields(request) });
    const known = { ...request, ...(languages.size > 0 && { language }) };
    let id = 0;
    const emit = (segments: readonly Segment[], span: SampleSpan) => {
      for (const segment of segments)
        context.emit({
          kind: 'segment',
          segment: { id: id++, ...segment },
          done: span.end / detectorRate,
        });
    };
    if (first && opening) emit(opening.segments, first);
    const transcribe = (span: SampleSpan) => this.#transcribeSpan(samples, span, known, signal);
    for await (const [span, { segments }] of inOrder(others, transcribe, this.options.windows))
      emit(segments, span);
  }

  async close(): Promise<void> {
    await Promise.all([this.parts.session.close(), this.parts.voices.close()]);
  }

  #usualLanguage(): string {
    const { languages } = this.parts.settings;
    return languages.size === 0 || languages.has('en') ? 'en' : [...languages.keys()][0]!;
  }

  #ignoredFields({ details }: TranscribeRequest): string[] {
    return details && !this.parts.session.hasAlignment ? ['timestamp_granularities'] : [];
  }

  /** Spans from the first to the last speech, divided at pauses into at most one window each if pauses allow it. */
  async #spansOf(samples: Float32Array, signal: AbortSignal): Promise<SampleSpan[]> {
    const window = this.parts.engine.windowSamples;
    return joinSpans(await this.parts.voices.detect(samples, signal), window, window);
  }

  /** Transcribes window after window, each from the end of the previous one. */
  async #transcribeSpan(
    samples: Float32Array,
    { start, end }: SampleSpan,
    request: TranscribeRequest,
    signal: AbortSignal,
  ): Promise<{ segments: Segment[]; language: string | undefined }> {
    const { engine, settings } = this.parts;
    const segments: Segment[] = [];
    let { language } = request;
    const minRest = Math.min(end - start, minRestSeconds * detectorRate);
    for (let at = start; at < end && end - at >= minRest;) {
      const window = samples.subarray(at, Math.min(end, at + engine.windowSamples));
      const transcript = await engine.transcribe(this.#taskOf(window, { ...request, language }, signal));
      language = transcript.language;
      const seconds = window.length / detectorRate;
      const split = splitWindow(transcript, settings.marks.firstTimestamp, seconds);
      if (!isSilence(transcript)) {
        const details = this.#detailsOf(transcript, seconds, request.details ?? false);
        for (const part of split.segments)
          segments.push(this.#segment(transcript, part, at / detectorRate, details));
      }
      const advance = Math.round(split.transcribedSeconds * detectorRate);
      at += advance > 0 && !isSilence(transcript) ? advance : window.length;
    }
    return { segments: segments.filter(({ text }) => text), language };
  }

  #taskOf(samples: Float32Array, request: TranscribeRequest, signal: AbortSignal) {
    const { language, task = 'transcribe', prompt, temperature, details = false } = request;
    return {
      samples,
      task,
      signal,
      language: language?.toLowerCase(),
      timestamps: true,
      previous: prompt ? this.parts.tokenizer.encode(` ${prompt.trim()}`) : [],
      temperatures: temperature ? [temperature] : fallbackTemperatures,
      withAlignment: details && this.parts.session.hasAlignment,
    };
  }

  /** Start of each token of a window, if requested and supported by the model. */
  #detailsOf(
    transcript: WindowTranscript,
    seconds: number,
    wanted: boolean,
  ): { times?: number[] } | undefined {
    if (!wanted) return undefined;
    if (!this.parts.session.hasAlignment) return {};
    const { sourcePositions } = this.parts.session.model;
    return { times: tokenTimes(transcript.alignment, sourcePositions, Math.ceil(seconds * 50)) };
  }

  #segment(
    transcript: WindowTranscript,
    { start, end, places }: WindowSegment,
    offset: number,
    details: { times?: number[] } | undefined,
  ): Segment {
    const { vocabulary } = this.parts;
    const tokens = places.map((place) => transcript.tokens[place]!);
    const raw = Buffer.concat(tokens.map((token) => vocabulary.bytesOf(token))).toString();
    const text = raw.trim();
    const { avgLogprob, temperature, noSpeechProb, language } = transcript;
    const timed = (times: readonly number[]) => {
      const at = (place: number | undefined) =>
        offset + Math.min(end, Math.max(start, place === undefined ? end : (times[place] ?? end)));
      return places.map((place, index) => ({
        token: tokens[index]!,
        start: at(place),
        end: at(places[index + 1]),
      }));
    };
    return {
      start: round(offset + start),
      end: round(offset + end),
      text,
      tokens,
      avgLogprob,
      temperature,
      ...(noSpeechProb !== undefined && { noSpeechProb }),
      ...(text && !/^\s/.test(raw) && { joined: true }),
      ...(details && {
        ...(details.times && { words: wordsOf(timed(details.times), vocabulary, language) }),
        logprobs: places.map((place, index) => ({
          token: vocabulary.textOf(tokens[index]!),
          logprob: transcript.logProbabilities[place]!,
        })),
      }),
    };
  }
}

/** Probable silence with improbable text. */
function isSilence({ noSpeechProb = 0, avgLogprob }: WindowTranscript): boolean {
  return noSpeechProb > thresholds.noSpeech && avgLogprob < thresholds.logprob;
}

/** Runs up to `maxConcurrent` items concurrently; results come in the order of the items. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  maxConcurrent: number,
): AsyncGenerator<[Item, Result], void, void> {
  const begun: Promise<Result>[] = [];
  for (const [index, item] of items.entries()) {
    for (let next = begun.length; next < Math.min(items.length, index + maxConcurrent); next++) {
      const result = work(items[next]!);
      // The error is thrown when this item is yielded.
      result.catch(() => undefined);
      begun.push(result);
    }
    yield [item, await begun[index]!];
  }
}
