/** Zero crossings of the sinc function on each side, at the lower of the two rates. */
const zeroCrossings = 24;
/** Cutoff of the low-pass filter, as a fraction of the lower Nyquist frequency. */
const rollOff = 0.94;
/** Beta of the Kaiser window: about 80 dB of attenuation. */
const kaiserBeta = 8;

/**
 * Changes the sample rate of a signal in pieces, by a windowed sinc filter in polyphase form. The result does not
 * depend on the division into pieces, and has ⌈samples · to / from⌉ samples.
 */
export class Resampler {
  private readonly up: number;
  private readonly down: number;
  private readonly halfWidth: number;
  private readonly phases = new Map<number, Float64Array>();
  /** Input samples that are still needed; the first has the index `start`. */
  private kept: Float32Array;
  private start: number;
  private received = 0;
  private produced = 0;

  /** Rates in Hz, positive integers. */
  constructor(
    readonly from: number,
    readonly to: number,
  ) {
    const common = greatestCommonDivisor(from, to);
    this.up = to / common;
    this.down = from / common;
    this.halfWidth = Math.ceil(zeroCrossings * Math.max(1, from / to));
    this.kept = new Float32Array(this.halfWidth);
    this.start = -this.halfWidth;
  }

  /** Adds samples; returns the output samples that are determined now. */
  push(samples: Float32Array): Float32Array {
    if (this.from === this.to) return samples;
    this.received += samples.length;
    this.append(samples);
    const complete = this.received - this.halfWidth;
    return this.produce(Math.max(0, Math.ceil((complete * this.up) / this.down)));
  }

  /** Returns the remaining output, as if silence followed. */
  finish(): Float32Array {
    if (this.from === this.to) return new Float32Array();
    this.append(new Float32Array(this.halfWidth + 1));
    return this.produce(Math.ceil((this.received * this.up) / this.down));
  }

  private append(samples: Float32Array): void {
    const kept = new Float32Array(this.kept.length + samples.length);
    kept.set(this.kept);
    kept.set(samples, this.kept.length);
    this.kept = kept;
  }

  private produce(total: number): Float32Array {
    const output = new Float32Array(Math.max(0, total - this.produced));
    for (let index = 0; index < output.length; index += 1) {
      const place = (this.produced + index) * this.down;
      const weights = this.phase(place % this.up);
      const first = Math.floor(place / this.up) - this.halfWidth + 1 - this.start;
      let sum = 0;
      for (let tap = 0; tap < weights.length; tap += 1) sum += weights[tap]! * this.kept[first + tap]!;
      output[index] = sum;
    }
    this.produced += output.length;
    const needed = Math.floor((this.produced * this.down) / this.up) - this.halfWidth + 1;
    const surplus = Math.min(Math.max(0, needed - this.start), this.kept.length);
    this.kept = this.kept.slice(surplus);
    this.start += surplus;
    return output;
  }

  /** Weights of the input samples around a position `phase` / `up` after a sample; their sum is 1. */
  private phase(phase: number): Float64Array {
    let weights = this.phases.get(phase);
    if (!weights) this.phases.set(phase, (weights = this.makePhase(phase / this.up)));
    return weights;
  }

  private makePhase(fraction: number): Float64Array {
    const cutoff = rollOff * Math.min(1, this.to / this.from);
    const weights = Float64Array.from({ length: 2 * this.halfWidth }, (_, tap) => {
      const distance = tap - this.halfWidth + 1 - fraction;
      return sinc(cutoff * distance) * kaiser(distance / this.halfWidth);
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }
}

/** Joins pieces of audio. */
export function concatSamples(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    joined.set(part, place);
    place += part.length;
  }
  return joined;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) > 1 ? 0 : besselI0(kaiserBeta * Math.sqrt(1 - x * x)) / besselI0(kaiserBeta);
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function besselI0(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > 1e-12 * sum; k += 1) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
