import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { MegaNestError, type TranscriptSegment } from '#contracts';
import { readOptionalJson, ModelLoadError } from '#models';
import type { CallContext } from '#models';
import { decodeAudio } from '../audio/decode-audio.js';
import { Resampler } from '../audio/resampler.js';
import type { TranscriberCall, TranscriberReady, TranscriberSettings } from '../transcriber-messages.js';
import type { TranscriptEvent } from '../transcriber-interface.js';
import { openVoiceDetector } from '../vad/open-voice-detector.js';
import { joinSpans, type SampleSpan } from '../vad/speech-spans.js';
import { detectorRate, type VoiceDetector } from '../vad/voice-detector.js';
import { alignUnits } from './align-units.js';
import { beamSearch, type LanguageModelScores } from './beam-search.js';
import { greedySearch } from './greedy-search.js';
import { withQuietMargin } from './quiet-margin.js';
import { scoreWindows } from './score-windows.js';
import { describeSegment } from './segment.js';
import { SpeechSession } from './speech-session.js';
import { readLanguageModel } from './unit-language-model.js';
import { CtcVocabulary } from './vocabulary.js';

const configSchema = z.looseObject({
  blank_token_id: z.int().min(0).optional(),
  pad_token_id: z.int().min(0).optional(),
  /** ISO 639-1 codes of what the model understands; the first one is reported. */
  languages: z.array(z.string()).min(1).optional(),
  /** Seconds of quiet that speech gets where the recording begins or ends with it. */
  quiet_margin: z.number().min(0).max(2).default(0),
});

/** In seconds: a segment at most, the pause within one, the window of audio without pauses, its overlap. */
const timing = { segment: 12, pause: 0.8, window: 20, overlap: 2 };

interface TranscriberParts {
  session: SpeechSession;
  vocabulary: CtcVocabulary;
  voices: VoiceDetector;
  blank: number;
  quietMargin: number;
  languageModel: LanguageModelScores | undefined;
  languages: readonly string[];
}

/** Transcribes with a CTC network, in the worker's thread. */
export class CtcTranscriber {
  private constructor(
    private readonly settings: TranscriberSettings,
    private readonly parts: TranscriberParts,
  ) {}

  /** Throws ModelLoadError. */
  static async load(settings: TranscriberSettings): Promise<CtcTranscriber> {
    const { directory, engine, device, threads, voiceModel } = settings;
    const config = await readOptionalJson(directory, 'config.json', configSchema);
    if (!config) throw new ModelLoadError(`${directory} holds no config.json.`);
    const vocabulary = await CtcVocabulary.read(directory);
    const session = await SpeechSession.load(directory, engine, { device, threads });
    const voices = await openVoiceDetector(voiceModel);
    const blank = config.blank_token_id ?? config.pad_token_id ?? 0;
    const languages = config.languages ?? ['en'];
    const languageModel = await readLanguageModel(directory);
    const quietMargin = Math.round(config.quiet_margin * session.samplingRate);
    const parts = { session, vocabulary, voices, blank, quietMargin, languageModel, languages };
    return new CtcTranscriber(settings, parts);
  }

  get ready(): TranscriberReady {
    return { backend: this.parts.session.backend, ...this.parts.session.choice, filesAtOnce: 1 };
  }

  /** Decodes the file and emits what is heard, stretch by stretch. */
  async transcribe(request: TranscriberCall, context: CallContext<TranscriptEvent>): Promise<void> {
    const language = this.#languageOf(request);
    const { signal } = context;
    const { samplingRate } = this.parts.session;
    const samples = await decodeAudio(request.audio, {
      sampleRate: samplingRate,
      maxSeconds: this.settings.maxSeconds,
      filename: request.filename,
      signal,
    });
    const seconds = samples.length / samplingRate;
    context.emit({ kind: 'audio', seconds, language, ignored: ignoredFields(request) });
    let id = 0;
    for (const span of await this.#speechIn(samples, signal)) {
      // Lets the cancel of a client that has left come in.
      await setImmediate();
      if (signal.aborted) throw new MegaNestError('cancelled');
      const segment = await this.#hear(samples, span, id, request.details ?? false);
      if (segment.text) {
        context.emit({ kind: 'segment', segment, done: span.end / samplingRate });
        id += 1;
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.parts.session.close(), this.parts.voices.close()]);
  }

  #languageOf({ language, task }: TranscriberCall): string {
    if (task === 'translate')
      throw new MegaNestError('unsupported_parameter', {
        detail: `${this.settings.id} writes down what is said; it cannot translate.`,
        param: 'model',
      });
    const asked = language?.toLowerCase();
    if (asked !== undefined && !this.parts.languages.includes(asked))
      throw new MegaNestError('unsupported_parameter', {
        detail: `language: ${this.settings.id} understands ${this.parts.languages.join(', ')}, not ${language}`,
        param: 'language',
      });
    return asked ?? this.parts.languages[0]!;
  }

  async #speechIn(samples: Float32Array, signal: AbortSignal): Promise<SampleSpan[]> {
    const { samplingRate } = this.parts.session;
    const scale = samplingRate / detectorRate;
    const heard = scale === 1 ? samples : resampled(samples, samplingRate);
    const spans = joinSpans(
      await this.parts.voices.detect(heard, signal),
      timing.segment * detectorRate,
      timing.pause * detectorRate,
    );
    return spans.map(({ start, end }) => ({
      start: Math.floor(start * scale),
      end: Math.min(samples.length, Math.ceil(end * scale)),
    }));
  }

  async #hear(
    samples: Float32Array,
    { start, end }: SampleSpan,
    id: number,
    details: boolean,
  ): Promise<TranscriptSegment> {
    const { samplingRate } = this.parts.session;
    const rules = { window: timing.window * samplingRate, overlap: timing.overlap * samplingRate };
    const { blank, languageModel, quietMargin } = this.parts;
    const stretch = withQuietMargin(samples, { start, end }, quietMargin);
    const scores = await scoreWindows(stretch.samples, rules, (part) => this.parts.session.run(part));
    const { beams } = this.settings;
    const units =
      beams > 1
        ? beamSearch(scores, { blank, beams, ...(languageModel && { languageModel }) })
        : greedySearch(scores, blank);
    const aligned = alignUnits(scores, units, blank);
    return describeSegment(this.parts.vocabulary, aligned, {
      id,
      start: start / samplingRate,
      end: end / samplingRate,
      firstStep: stretch.start / samplingRate,
      secondsPerStep: stretch.samples.length / samplingRate / Math.max(1, scores.steps),
      details,
    });
  }
}

/** The network hears sounds alone, and its search has no randomness. */
function ignoredFields({ prompt, temperature }: TranscriberCall): string[] {
  return [...(prompt ? ['prompt'] : []), ...(temperature ? ['temperature'] : [])];
}

function resampled(samples: Float32Array, rate: number): Float32Array {
  const resampler = new Resampler(rate, detectorRate);
  const parts = [resampler.push(samples), resampler.finish()];
  const joined = new Float32Array(parts[0]!.length + parts[1]!.length);
  joined.set(parts[0]!);
  joined.set(parts[1]!, parts[0]!.length);
  return joined;
}
