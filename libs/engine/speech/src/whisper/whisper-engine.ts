import { deflateSync } from 'node:zlib';
import { MegaNestError } from '#platform/contracts';
import type { TokenVocabulary } from '#engine/models';
import { foreignTokens } from './foreign-scripts.js';
import { TokenRules } from './token-rules.js';
import { WhisperFeatures } from './whisper-features.js';
import { WhisperSequence, type WindowTask, type WindowTranscript } from './whisper-sequence.js';
import type { WhisperSettings } from './whisper-settings.js';

/** Results of a decoder run for the requested rows. */
export interface DecoderRows {
  /** Log probabilities, one array per row; the caller may modify them. */
  readonly scores: readonly Float32Array[];
  /**
   * Cross-attention of each new token of each sequence: `[sequence][token]`, heads × source positions; only with
   * alignment heads.
   */
  readonly alignment?: readonly (readonly Float32Array[])[];
}

/** Input of {@link WhisperBackend.decode}. */
export interface DecodeStep {
  /** Slot of the first sequence. */
  readonly first: number;
  /** Cached positions of each sequence. */
  readonly pasts: readonly number[];
  /** New tokens of each sequence, the same number for each. */
  readonly tokens: readonly (readonly number[])[];
  /** Rows, `sequence × tokens + token`, whose scores are returned. */
  readonly wanted: readonly number[];
  /** Append the tokens to the KV cache; default true. */
  readonly keep?: boolean;
}

/** The encoder and the decoder of a Whisper model, and the KV caches of the sequences in slots from 0 on. */
export interface WhisperBackend {
  readonly model: { readonly sourcePositions: number; readonly targetPositions: number };
  /** Name of the engine. */
  readonly backend: string;
  /** True if it returns alignments. */
  readonly hasAlignment: boolean;
  /** Reserves memory for `slots` sequences of `positions` positions. */
  reserve(slots: number, positions: number): void;
  /** Copies a sequence of `positions` positions to another slot. */
  move(from: number, to: number, positions: number): void;
  /** Encodes one window, `[bands, 2 · sourcePositions]`, into a slot. */
  encode(features: Float32Array, slot: number): Promise<void>;
  /** Runs new tokens of consecutive sequences after their cached positions. */
  decode(step: DecodeStep): Promise<DecoderRows>;
  close(): Promise<void>;
}

/** Thresholds of the reference implementation for repetitive text, improbable text, and silence. */
export const thresholds = { compressionRatio: 2.4, logprob: -1, noSpeech: 0.6 };

/**
 * Decodes windows of audio in a batch: a new window joins at the next token, so that the weights are read once for
 * all windows. Windows come from one file or from several.
 */
export class WhisperEngine {
  private readonly features: WhisperFeatures;
  private readonly waiting: WhisperSequence[] = [];
  /** Ordered by slot. */
  private readonly active: WhisperSequence[] = [];
  private isWorking = false;
  /** By language. */
  private readonly foreign = new Map<string, readonly number[]>();

  constructor(
    private readonly session: WhisperBackend,
    private readonly settings: WhisperSettings,
    private readonly vocabulary: TokenVocabulary,
    /** Maximum number of windows in a batch. */
    private readonly maxWindows: number,
  ) {
    this.features = new WhisperFeatures(settings.audio, 2 * session.model.sourcePositions);
  }

  get windowSamples(): number {
    return this.features.windowSamples;
  }

  /** Maximum tokens of the transcript of a window, and of a prompt. */
  get maxTokens(): number {
    return Math.floor(this.session.model.targetPositions / 2);
  }

  /** Transcribes a window. Errors: cancelled. */
  transcribe(task: WindowTask): Promise<WindowTranscript> {
    const { marks } = this.settings;
    const limits = { end: marks.end, maxTokens: this.maxTokens };
    const rules = new TokenRules(this.settings, task.timestamps, this.#foreignTokens(task));
    const sequence = new WhisperSequence(task, rules, limits);
    this.waiting.push(sequence);
    if (!this.isWorking) void this.#work();
    return sequence.result;
  }

  /** Tokens of other scripts, if the caller names the language; a translation is in English. */
  #foreignTokens({ language, task }: WindowTask): readonly number[] {
    if (language === undefined) return [];
    const written = task === 'translate' ? 'en' : language;
    const known = this.foreign.get(written);
    if (known) return known;
    const tokens = foreignTokens(this.vocabulary, written, this.settings.marks.end);
    this.foreign.set(written, tokens);
    return tokens;
  }

  async #work(): Promise<void> {
    this.isWorking = true;
    try {
      while (this.waiting.length > 0 || this.active.length > 0) {
        const hasRoom = this.active.length < this.maxWindows;
        const next = hasRoom ? this.waiting.shift() : undefined;
        if (next) await this.#admit(next);
        if (this.active.length > 0) await this.#step();
      }
    } catch (error) {
      for (const sequence of [...this.active.splice(0), ...this.waiting.splice(0)]) sequence.fail(error);
    } finally {
      this.isWorking = false;
    }
  }

  /** Encodes a window, detects its language if it is unknown, and runs its prompt. */
  async #admit(sequence: WhisperSequence): Promise<void> {
    if (sequence.task.signal.aborted) return sequence.fail(new MegaNestError('cancelled'));
    const slot = this.active.length;
    try {
      this.session.reserve(slot + 1, this.maxTokens);
      await this.session.encode(this.features.extract(sequence.task.samples), slot);
      sequence.language ??= await this.#languageIn(slot);
      sequence.begin(this.#promptOf(sequence));
      this.session.reserve(slot + 1, sequence.maxPositions);
    } catch (error) {
      sequence.fail(error);
      throw error;
    }
    this.active.push(sequence);
    await this.#start(slot);
  }

  /** Detects the language; undefined for a model of one language. */
  async #languageIn(slot: number): Promise<string | undefined> {
    const { languages, marks } = this.settings;
    if (languages.size === 0) return undefined;
    const tokens = [[marks.start]];
    const { scores } = await this.session.decode({
      first: slot,
      pasts: [0],
      tokens,
      wanted: [0],
      keep: false,
    });
    const likelihood = ([, id]: [string, number]) => scores[0]![id]!;
    return [...languages].reduce((best, next) => (likelihood(next) > likelihood(best) ? next : best))[0];
  }

  #promptOf({ task, language }: WhisperSequence): number[] {
    const { marks, languages, tasks } = this.settings;
    const before = task.previous.slice(-(this.maxTokens - 1));
    const opening = marks.previous !== undefined && before.length > 0 ? [marks.previous, ...before] : [];
    const chosen = [languages.get(language ?? ''), tasks.size > 0 ? tasks.get(task.task) : undefined];
    const known = languages.size > 0 ? chosen.filter((id) => id !== undefined) : [];
    return [...opening, marks.start, ...known, ...(task.timestamps ? [] : [marks.noTimestamps])];
  }

  /** Runs the prompt and samples the first token. */
  async #start(slot: number): Promise<void> {
    const sequence = this.active[slot]!;
    const prompt = this.#promptOf(sequence);
    const begin = prompt.indexOf(this.settings.marks.start);
    const wanted = [begin, prompt.length - 1];
    const { scores } = await this.session.decode({ first: slot, pasts: [0], tokens: [prompt], wanted });
    const { noSpeech } = this.settings.marks;
    if (noSpeech !== undefined) sequence.noSpeechProb = Math.exp(scores[0]![noSpeech]!);
    // A copy, because both rows may be the same and sampling modifies them.
    if (sequence.take(scores[1]!.slice())) await this.#end(slot);
  }

  /** Decodes one token of each sequence. */
  async #step(): Promise<void> {
    const { active } = this;
    const wanted = active.map((_, slot) => slot);
    const pasts = active.map(({ positions }) => positions - 1);
    const tokens = active.map(({ lastToken }) => [lastToken]);
    const { scores, alignment } = await this.session.decode({ first: 0, pasts, tokens, wanted });
    for (let slot = active.length - 1; slot >= 0; slot--) {
      const sequence = active[slot]!;
      if (sequence.task.signal.aborted) {
        sequence.fail(new MegaNestError('cancelled'));
        this.#leave(slot);
        continue;
      }
      if (alignment) sequence.look(alignment[slot]![0]!);
      if (sequence.take(scores[slot]!)) await this.#end(slot);
    }
  }

  /** Ends an attempt: returns its text, or retries the window at a higher temperature. */
  async #end(slot: number): Promise<void> {
    const sequence = this.active[slot]!;
    const { tokens, avgLogprob, noSpeechProb = 0 } = sequence.transcript;
    const improbable = avgLogprob < thresholds.logprob;
    const isSilence = improbable && noSpeechProb > thresholds.noSpeech;
    const repeats = this.#compressionRatio(tokens) > thresholds.compressionRatio;
    const isPoor = !isSilence && (improbable || repeats);
    if (isPoor && sequence.retry({ repeats })) return this.#start(slot);
    sequence.finish({ isPoor, repeats });
    this.#leave(slot);
  }

  #compressionRatio(tokens: readonly number[]): number {
    const { firstTimestamp } = this.settings.marks;
    const text = Buffer.concat(
      tokens.filter((token) => token < firstTimestamp).map((token) => this.vocabulary.bytesOf(token)),
    );
    return text.length === 0 ? 0 : text.length / deflateSync(text).length;
  }

  /** Frees a slot; the last sequence moves into it. */
  #leave(slot: number): void {
    const last = this.active.pop()!;
    if (slot === this.active.length) return;
    this.session.move(this.active.length, slot, last.positions);
    this.active[slot] = last;
  }
}
