import { MegaNestError, type TranscriptSegment } from '#contracts';
import { ModelLoadError, TextTokenizer, TokenVocabulary } from '#models';
import type { CallContext } from '#models';
import { decodeAudio } from '../audio/decode-audio.js';
import type { TranscriptEvent } from '../transcriber-interface.js';
import type { TranscriberCall, TranscriberReady, TranscriberSettings } from '../transcriber-messages.js';
import { openVoiceDetector } from '../vad/open-voice-detector.js';
import { joinSpans, type SampleSpan } from '../vad/speech-spans.js';
import { detectorRate, type VoiceDetector } from '../vad/voice-detector.js';
import { thresholds, WhisperEngine } from './whisper-engine.js';
import { openBackend } from './open-backend.js';
import type { WhisperBackend } from './whisper-backend.js';
import { splitWindow, type WindowSegment } from './whisper-segments.js';
import type { HeardWindow } from './whisper-sequence.js';
import { readWhisperSettings, type WhisperSettings } from './whisper-settings.js';
import { tokenTimes } from './word-times.js';
import { wordsOf } from './whisper-words.js';

/** Temperatures of the reference: where the likeliest text is poor, the next one is tried. */
const ladder = [0, 0.2, 0.4, 0.6, 0.8, 1];
/** Shorter rests of a stretch are not heard by themselves, in seconds. */
const leastRest = 0.1;

interface Parts {
  session: WhisperBackend;
  settings: WhisperSettings;
  engine: WhisperEngine;
  tokenizer: TextTokenizer;
  vocabulary: TokenVocabulary;
  voices: VoiceDetector;
}

/** A segment of a stretch, in seconds of the whole audio, not numbered yet. */
type Segment = Omit<TranscriptSegment, 'id'>;

/** Transcribes and translates with a Whisper model, in the worker's thread; files are heard side by side. */
export class WhisperTranscriber {
  private constructor(
    private readonly options: TranscriberSettings,
    private readonly parts: Parts,
  ) {}

  /** Throws ModelLoadError and UnsupportedModelError. */
  static async load(options: TranscriberSettings): Promise<WhisperTranscriber> {
    const { directory, engine: choice, device, threads, windows } = options;
    const settings = await readWhisperSettings(directory);
    if (settings.audio.sampling_rate !== detectorRate)
      throw new ModelLoadError(
        `${directory}: hears ${settings.audio.sampling_rate} Hz; 16000 is known here.`,
      );
    const session = await openBackend(directory, choice, { device, threads }, settings);
    const vocabulary = await TokenVocabulary.load(directory);
    const engine = new WhisperEngine(session, settings, vocabulary, windows);
    const tokenizer = await TextTokenizer.load(directory);
    const voices = await openVoiceDetector(options.voiceModel);
    return new WhisperTranscriber(options, { session, settings, engine, tokenizer, vocabulary, voices });
  }

  get ready(): TranscriberReady {
    const { backend, choice } = this.parts.session;
    return { backend, ...choice, filesAtOnce: this.options.windows };
  }

  /** Decodes the file and emits what is heard, stretch by stretch. */
  async transcribe(request: TranscriberCall, context: CallContext<TranscriptEvent>): Promise<void> {
    this.#check(request);
    const { signal } = context;
    const samples = await decodeAudio(request.audio, {
      sampleRate: detectorRate,
      maxSeconds: this.options.maxSeconds,
      filename: request.filename,
      signal,
    });
    const stretches = await this.#stretchesOf(samples, signal);
    const [first, ...others] = stretches;
    const opening = first && (await this.#hearStretch(samples, first, request, signal));
    const language = opening?.language ?? request.language?.toLowerCase() ?? this.#usualLanguage();
    const seconds = samples.length / detectorRate;
    context.emit({ kind: 'audio', seconds, language, ignored: this.#ignoredFields(request) });
    const known = { ...request, ...(this.parts.settings.languages.size > 0 && { language }) };
    let id = 0;
    const emit = (segments: readonly Segment[], stretch: SampleSpan) => {
      for (const segment of segments)
        context.emit({
          kind: 'segment',
          segment: { id: id++, ...segment },
          done: stretch.end / detectorRate,
        });
    };
    if (first && opening) emit(opening.segments, first);
    const hear = (stretch: SampleSpan) => this.#hearStretch(samples, stretch, known, signal);
    for await (const [stretch, { segments }] of inOrder(others, hear, this.options.windows))
      emit(segments, stretch);
  }

  async close(): Promise<void> {
    await Promise.all([this.parts.session.close(), this.parts.voices.close()]);
  }

  #check({ language, task }: TranscriberCall): void {
    const { languages, tasks } = this.parts.settings;
    const known = languages.size > 0 ? [...languages.keys()] : ['en'];
    if (task === 'translate' && !tasks.has('translate'))
      throw new MegaNestError('unsupported_parameter', {
        detail: `${this.options.id} writes down what is said; it cannot translate.`,
        param: 'model',
      });
    if (language !== undefined && !known.includes(language.toLowerCase()))
      throw new MegaNestError('unsupported_parameter', {
        detail: `language: ${this.options.id} understands ${known.join(', ')}, not ${language}`,
        param: 'language',
      });
  }

  #usualLanguage(): string {
    const { languages } = this.parts.settings;
    return languages.size === 0 || languages.has('en') ? 'en' : [...languages.keys()][0]!;
  }

  #ignoredFields({ details }: TranscriberCall): string[] {
    return details && !this.parts.session.tellsAlignment ? ['timestamp_granularities'] : [];
  }

  /** From the first speech to the last, cut at pauses into stretches of a window at most where pauses allow. */
  async #stretchesOf(samples: Float32Array, signal: AbortSignal): Promise<SampleSpan[]> {
    const window = this.parts.engine.windowSamples;
    return joinSpans(await this.parts.voices.detect(samples, signal), window, window);
  }

  /** Window after window, each from where the one before ended. */
  async #hearStretch(
    samples: Float32Array,
    { start, end }: SampleSpan,
    request: TranscriberCall,
    signal: AbortSignal,
  ): Promise<{ segments: Segment[]; language: string | undefined }> {
    const { engine, settings } = this.parts;
    const segments: Segment[] = [];
    let { language } = request;
    const least = Math.min(end - start, leastRest * detectorRate);
    for (let at = start; at < end && end - at >= least;) {
      const window = samples.subarray(at, Math.min(end, at + engine.windowSamples));
      const heard = await engine.hear(this.#taskOf(window, { ...request, language }, signal));
      language = heard.language;
      const seconds = window.length / detectorRate;
      const split = splitWindow(heard, settings.marks.firstTimestamp, seconds);
      if (!isSilence(heard)) {
        const details = this.#detailsOf(heard, seconds, request.details ?? false);
        for (const part of split.segments)
          segments.push(this.#segment(heard, part, at / detectorRate, details));
      }
      const advance = Math.round(split.heard * detectorRate);
      at += advance > 0 && !isSilence(heard) ? advance : window.length;
    }
    return { segments: segments.filter(({ text }) => text), language };
  }

  #taskOf(samples: Float32Array, request: TranscriberCall, signal: AbortSignal) {
    const { language, task = 'transcribe', prompt, temperature, details = false } = request;
    return {
      samples,
      task,
      signal,
      language: language?.toLowerCase(),
      timestamps: true,
      previous: prompt ? this.parts.tokenizer.encode(` ${prompt.trim()}`) : [],
      temperatures: temperature ? [temperature] : ladder,
      withAlignment: details && this.parts.session.tellsAlignment,
    };
  }

  /** When each token of a window begins, where that was asked for and the model can tell. */
  #detailsOf(heard: HeardWindow, seconds: number, wanted: boolean): { times?: number[] } | undefined {
    if (!wanted) return undefined;
    if (!this.parts.session.tellsAlignment) return {};
    const { sourcePositions } = this.parts.session.model;
    return { times: tokenTimes(heard.alignment, sourcePositions, Math.ceil(seconds * 50)) };
  }

  #segment(
    heard: HeardWindow,
    { start, end, places }: WindowSegment,
    offset: number,
    details: { times?: number[] } | undefined,
  ): Segment {
    const { vocabulary } = this.parts;
    const tokens = places.map((place) => heard.tokens[place]!);
    const raw = Buffer.concat(tokens.map((token) => vocabulary.bytesOf(token))).toString();
    const text = raw.trim();
    const { avgLogprob, temperature, noSpeechProb, language } = heard;
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
          logprob: heard.logProbabilities[place]!,
        })),
      }),
    };
  }
}

/** Nobody speaks, and the text is improbable too. */
function isSilence({ noSpeechProb = 0, avgLogprob }: HeardWindow): boolean {
  return noSpeechProb > thresholds.noSpeech && avgLogprob < thresholds.logprob;
}

/** Works on up to `most` items at a time; results come in the order of the items. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  most: number,
): AsyncGenerator<[Item, Result], void, void> {
  const begun: Promise<Result>[] = [];
  for (const [index, item] of items.entries()) {
    for (let next = begun.length; next < Math.min(items.length, index + most); next++) {
      const result = work(items[next]!);
      // Reported when its turn comes.
      result.catch(() => undefined);
      begun.push(result);
    }
    yield [item, await begun[index]!];
  }
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
