import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { MegaNestError, type TranscriptSegment } from '#platform/contracts';
import { readOptionalJson, ModelLoadError, type CallContext } from '#engine/models';
import { decodeAudio } from '../audio/decode-audio.js';
import { concatSamples, Resampler } from '../audio/resampler.js';
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
import { alignUnits, beamSearch, type LanguageModelScores, greedySearch } from './search.js';
import { padWithSilence, scoreWindows, SpeechSession } from './speech-session.js';
import { describeSegment, CtcVocabulary } from './vocabulary.js';
import { readLanguageModel } from './unit-language-model.js';

const configSchema = z.looseObject({
  blank_token_id: z.int().min(0).optional(),
  pad_token_id: z.int().min(0).optional(),
  /** Languages of the model in ISO 639-1; the first one is reported. */
  languages: z.array(z.string()).min(1).optional(),
  /** Seconds of silence added where speech begins or ends with the recording. */
  quiet_margin: z.number().min(0).max(2).default(0),
});

/**
 * In seconds: maximum length of a segment, pause within a segment, window of audio without pauses, overlap of
 * windows.
 */
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

/** Transcribes with a CTC model, in a worker thread. */
export class CtcTranscriber {
  private constructor(
    private readonly settings: TranscriberSettings,
    private readonly parts: TranscriberParts,
  ) {}

  /** Loads the model. Errors: ModelLoadError. */
  static async load(settings: TranscriberSettings): Promise<CtcTranscriber> {
    const { directory, engine, device, threads, voiceModel } = settings;
    const config = await readOptionalJson(directory, 'config.json', configSchema);
    if (!config) throw new ModelLoadError(`${directory} does not contain config.json.`);
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
    return { backend: this.parts.session.backend, ...this.parts.session.choice, maxConcurrentFiles: 1 };
  }

  /** Decodes the file and emits its transcript, span by span. Errors: see Transcriber.transcribe. */
  async transcribe(request: TranscribeRequest, context: CallContext<TranscriptEvent>): Promise<void> {
    const { languages, session } = this.parts;
    checkRequest(request, { id: this.settings.id, languages, translates: false });
    const language = request.language?.toLowerCase() ?? languages[0]!;
    const { signal } = context;
    const { samplingRate } = session;
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
      // Lets a cancellation arrive.
      await setImmediate();
      if (signal.aborted) throw new MegaNestError('cancelled');
      const segment = await this.#transcribe(samples, span, id, request.details ?? false);
      if (segment.text) {
        context.emit({ kind: 'segment', segment, done: span.end / samplingRate });
        id += 1;
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.parts.session.close(), this.parts.voices.close()]);
  }

  async #speechIn(samples: Float32Array, signal: AbortSignal): Promise<SampleSpan[]> {
    const { samplingRate } = this.parts.session;
    const scale = samplingRate / detectorRate;
    const transcript = scale === 1 ? samples : resampled(samples, samplingRate);
    const spans = joinSpans(
      await this.parts.voices.detect(transcript, signal),
      timing.segment * detectorRate,
      timing.pause * detectorRate,
    );
    return spans.map(({ start, end }) => ({
      start: Math.floor(start * scale),
      end: Math.min(samples.length, Math.ceil(end * scale)),
    }));
  }

  async #transcribe(
    samples: Float32Array,
    { start, end }: SampleSpan,
    id: number,
    details: boolean,
  ): Promise<TranscriptSegment> {
    const { samplingRate } = this.parts.session;
    const rules = { window: timing.window * samplingRate, overlap: timing.overlap * samplingRate };
    const { blank, languageModel, quietMargin } = this.parts;
    const span = padWithSilence(samples, { start, end }, quietMargin);
    const scores = await scoreWindows(span.samples, rules, (part) => this.parts.session.run(part));
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
      firstStep: span.start / samplingRate,
      secondsPerStep: span.samples.length / samplingRate / Math.max(1, scores.steps),
      details,
    });
  }
}

/** The model does not use a prompt, and its search is not random. */
function ignoredFields({ prompt, temperature }: TranscribeRequest): string[] {
  return [...(prompt ? ['prompt'] : []), ...(temperature ? ['temperature'] : [])];
}

function resampled(samples: Float32Array, rate: number): Float32Array {
  const resampler = new Resampler(rate, detectorRate);
  return concatSamples([resampler.push(samples), resampler.finish()]);
}
