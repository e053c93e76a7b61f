/** Rules of turn detection. */
export interface TurnRules {
  /** 0 to 1: speech is 18 dB times this above the noise floor. */
  threshold: number;
  /** Milliseconds of audio before the speech that belong to the turn. */
  prefixMs: number;
  /** Milliseconds of silence that end a turn. */
  silenceMs: number;
}

/**
 * A turn has begun, or has ended with its audio; times are milliseconds from the start of the connection's audio.
 */
export type TurnEvent =
  | { readonly kind: 'started'; readonly at: number }
  | { readonly kind: 'stopped'; readonly at: number; readonly samples: Int16Array };

const frameMs = 20;
/** Consecutive frames of speech that begin a turn. */
const minFrames = 3;
/** Longer turns are split, which limits the audio per transcription. */
const maxTurnMs = 30_000;
/** Level in dB relative to full scale: quieter frames are never speech; also the initial noise floor. */
const silence = -50;
/** Maximum rise of the noise floor in dB per second. */
const riseInASecond = 3;

/**
 * Buffers audio of a microphone. With rules it detects turns by their level above the noise floor; without rules it
 * keeps audio until it is taken.
 */
export class AudioBuffer {
  private frames: Int16Array[] = [];
  private rest = new Int16Array();
  /** Number of frames so far. */
  private count = 0;
  /** Milliseconds of audio that was taken or dropped before it filled a frame. */
  private shift = 0;
  private floor = silence;
  private speaking = false;
  /** Numbers of consecutive frames with and without speech. */
  private loud = 0;
  private quiet = 0;

  constructor(
    private rate: number,
    private rules: TurnRules | undefined,
  ) {}

  /** Milliseconds of buffered audio. */
  get milliseconds(): number {
    return this.frames.length * frameMs + (this.rest.length * 1000) / this.rate;
  }

  /** True during a turn. */
  get isSpeaking(): boolean {
    return this.speaking;
  }

  /** Changes rules or rate: time and noise floor stay, and the buffered audio unless the rate changes. */
  change(rate: number, rules: TurnRules | undefined): void {
    if (rate !== this.rate) this.#empty();
    this.rate = rate;
    this.rules = rules;
  }

  push(samples: Int16Array): TurnEvent[] {
    const events: TurnEvent[] = [];
    const size = Math.round((this.rate * frameMs) / 1000);
    const all = joined([this.rest, samples]);
    let start = 0;
    for (; start + size <= all.length; start += size) {
      const event = this.#take(all.slice(start, start + size));
      if (event) events.push(event);
    }
    this.rest = all.slice(start);
    return events;
  }

  /** Returns the buffered audio without removing it. */
  peek(): Int16Array {
    return joined(this.frames);
  }

  /** Returns and removes the buffered audio. */
  take(): Int16Array {
    const samples = joined([...this.frames, this.rest]);
    this.#empty();
    return samples;
  }

  #empty(): void {
    this.shift += (this.rest.length * 1000) / this.rate;
    this.frames = [];
    this.rest = new Int16Array();
    this.speaking = false;
    this.loud = 0;
  }

  /** Milliseconds from the start to `framesAgo` frames ago. */
  #time(framesAgo = 0): number {
    return Math.round(this.shift + (this.count - framesAgo) * frameMs);
  }

  #take(frame: Int16Array): TurnEvent | undefined {
    this.frames.push(frame);
    this.count += 1;
    if (!this.rules) return undefined;
    const isLoud = this.#isLoud(frame, this.rules.threshold);
    this.loud = isLoud ? this.loud + 1 : 0;
    this.quiet = isLoud ? 0 : this.quiet + 1;
    return this.speaking ? this.#end(this.rules) : this.#begin(this.rules);
  }

  #begin({ prefixMs }: TurnRules): TurnEvent | undefined {
    const kept = Math.ceil(prefixMs / frameMs) + minFrames;
    this.frames = this.frames.slice(-kept);
    if (this.loud < minFrames) return undefined;
    this.speaking = true;
    return { kind: 'started', at: this.#time(this.frames.length) };
  }

  #end({ silenceMs }: TurnRules): TurnEvent | undefined {
    const isOver = this.quiet * frameMs >= silenceMs;
    if (!isOver && this.frames.length * frameMs < maxTurnMs) return undefined;
    const samples = joined(this.frames);
    this.frames = [];
    this.speaking = false;
    this.loud = 0;
    return { kind: 'stopped', at: this.#time(), samples };
  }

  /** The noise floor is the lowest recent level: it falls at once and rises slowly. */
  #isLoud(frame: Int16Array, threshold: number): boolean {
    const power = frame.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / frame.length;
    const level = 10 * Math.log10(power + 1e-12);
    const isLoud = level > Math.max(silence, this.floor + 18 * threshold);
    this.floor = Math.max(-90, Math.min(level, this.floor + (riseInASecond * frameMs) / 1000));
    return isLoud;
  }
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}
