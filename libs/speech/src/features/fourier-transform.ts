import { ComplexValues, passOfAny, passOfFive, passOfFour, planPasses, type Pass } from './butterflies.js';

/**
 * Power spectra of real frames of one even length: a mixed radix Stockham transform (radix 4 and 5, and any other
 * prime, slower) of half the length, and the split of its result into the spectrum of the real frame. Plans its
 * tables once; one instance serves one caller at a time.
 */
export class RealFourierTransform {
  private readonly half: number;
  private readonly passes: Pass[];
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;
  private readonly buffers: [ComplexValues, ComplexValues];

  /** Errors: RangeError where `size` is odd or below 2. */
  constructor(readonly size: number) {
    if (size < 2 || size % 2 !== 0) throw new RangeError(`A frame of ${size} samples: must be even`);
    this.half = size / 2;
    this.passes = planPasses(this.half, factorsOf(this.half));
    this.cosines = Float64Array.from({ length: size }, (_, k) => Math.cos((2 * Math.PI * k) / size));
    this.sines = Float64Array.from({ length: size }, (_, k) => -Math.sin((2 * Math.PI * k) / size));
    this.buffers = [new ComplexValues(this.half), new ComplexValues(this.half)];
  }

  /** |X[k]|² for k = 0 … size / 2 of the `size` values of `frame`, written to `power` (size / 2 + 1 values). */
  powerSpectrum(frame: Float64Array, power: Float64Array): void {
    const [first] = this.buffers;
    for (let index = 0; index < this.half; index += 1) {
      first.real[index] = frame[2 * index]!;
      first.imaginary[index] = frame[2 * index + 1]!;
    }
    this.splitPower(this.transform(), power);
  }

  private transform(): ComplexValues {
    let [from, to] = this.buffers;
    for (const pass of this.passes) {
      if (pass.radix === 4) passOfFour(pass, from, to);
      else if (pass.radix === 5) passOfFive(pass, from, to);
      else passOfAny(pass, from, to);
      [from, to] = [to, from];
    }
    return from;
  }

  /** X[k] = (Z[k] + Z*[h−k]) / 2 − i/2 · w^k · (Z[k] − Z*[h−k]), with Z the transform of even + i·odd samples. */
  private splitPower(z: ComplexValues, power: Float64Array): void {
    const { half } = this;
    for (let k = 0; k <= half; k += 1) {
      const at = k === half ? 0 : k;
      const mirror = k === 0 ? 0 : half - k;
      const evenReal = (z.real[at]! + z.real[mirror]!) / 2;
      const evenImaginary = (z.imaginary[at]! - z.imaginary[mirror]!) / 2;
      const oddReal = (z.imaginary[at]! + z.imaginary[mirror]!) / 2;
      const oddImaginary = (z.real[mirror]! - z.real[at]!) / 2;
      const cosine = this.cosines[k]!;
      const sine = this.sines[k]!;
      const real = evenReal + oddReal * cosine - oddImaginary * sine;
      const imaginary = evenImaginary + oddReal * sine + oddImaginary * cosine;
      power[k] = real * real + imaginary * imaginary;
    }
  }
}

/** Radix 4 first: it needs the fewest passes. */
function factorsOf(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  for (let radix = 4; rest > 1; radix = radix === 4 ? 2 : radix === 2 ? 3 : radix + 2)
    for (; rest % radix === 0; rest /= radix) factors.push(radix);
  return factors;
}
