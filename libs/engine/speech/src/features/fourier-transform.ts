/** Real and imaginary parts of complex numbers. */
class ComplexValues {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;

  constructor(length: number) {
    this.real = new Float64Array(length);
    this.imaginary = new Float64Array(length);
  }
}

/** One pass of a Stockham transform. */
interface Pass {
  readonly radix: number;
  /** Butterflies, each for `stride` interleaved transforms. */
  readonly length: number;
  readonly stride: number;
  /** Distance of the inputs of a butterfly: `length · stride`. */
  readonly step: number;
  /** `[length, radix − 1]`: factors of the outputs of a butterfly, except the first. */
  readonly twiddles: ComplexValues;
  /** e^(−2πi·k / radix) for k = 0 … radix − 1. */
  readonly roots: ComplexValues;
}

/** Plans the passes of a transform of the given length, radix by radix. */
function planPasses(length: number, factors: readonly number[]): Pass[] {
  let rest = length;
  let stride = 1;
  return factors.map((radix) => {
    rest /= radix;
    const twiddles = new ComplexValues(rest * (radix - 1));
    const pass = { radix, length: rest, stride, step: rest * stride, twiddles };
    for (let p = 0; p < rest; p += 1)
      for (let k = 1; k < radix; k += 1)
        setRoot(pass.twiddles, p * (radix - 1) + k - 1, (p * k * stride) / length);
    stride *= radix;
    const roots = new ComplexValues(radix);
    for (let k = 0; k < radix; k += 1) setRoot(roots, k, k / radix);
    return { ...pass, roots };
  });
}

function setRoot(values: ComplexValues, at: number, turn: number): void {
  values.real[at] = Math.cos(2 * Math.PI * turn);
  values.imaginary[at] = -Math.sin(2 * Math.PI * turn);
}

/** Radix 4: two sums and two differences; a quarter turn swaps real and imaginary parts. */
function passOfFour(pass: Pass, from: ComplexValues, to: ComplexValues): void {
  const { length, stride, step } = pass;
  const { real: re, imaginary: im } = from;
  const { real: outRe, imaginary: outIm } = to;
  for (let p = 0; p < length; p += 1) {
    for (let q = 0; q < stride; q += 1) {
      const a = q + stride * p;
      const b = a + step;
      const c = a + 2 * step;
      const d = b + 2 * step;
      const sumRe = re[a]! + re[c]!;
      const sumIm = im[a]! + im[c]!;
      const differenceRe = re[a]! - re[c]!;
      const differenceIm = im[a]! - im[c]!;
      const otherRe = re[b]! + re[d]!;
      const otherIm = im[b]! + im[d]!;
      const turnedRe = im[b]! - im[d]!;
      const turnedIm = re[d]! - re[b]!;
      const y = q + 4 * stride * p;
      outRe[y] = sumRe + otherRe;
      outIm[y] = sumIm + otherIm;
      outRe[y + stride] = differenceRe + turnedRe;
      outIm[y + stride] = differenceIm + turnedIm;
      outRe[y + 2 * stride] = sumRe - otherRe;
      outIm[y + 2 * stride] = sumIm - otherIm;
      outRe[y + 3 * stride] = differenceRe - turnedRe;
      outIm[y + 3 * stride] = differenceIm - turnedIm;
      turn(to, y, pass, p);
    }
  }
}

/** Radix 5, by pairs of conjugate roots. */
function passOfFive(pass: Pass, from: ComplexValues, to: ComplexValues): void {
  const { length, stride, step, roots } = pass;
  const { real: re, imaginary: im } = from;
  const { real: outRe, imaginary: outIm } = to;
  const [c1, c2, s1, s2] = [roots.real[1]!, roots.real[2]!, -roots.imaginary[1]!, -roots.imaginary[2]!];
  for (let p = 0; p < length; p += 1) {
    for (let q = 0; q < stride; q += 1) {
      const a = q + stride * p;
      const b = a + step;
      const c = b + step;
      const d = c + step;
      const e = d + step;
      const beRe = re[b]! + re[e]!;
      const beIm = im[b]! + im[e]!;
      const cdRe = re[c]! + re[d]!;
      const cdIm = im[c]! + im[d]!;
      const beDifferenceRe = re[b]! - re[e]!;
      const beDifferenceIm = im[b]! - im[e]!;
      const cdDifferenceRe = re[c]! - re[d]!;
      const cdDifferenceIm = im[c]! - im[d]!;
      const oneRe = re[a]! + c1 * beRe + c2 * cdRe;
      const oneIm = im[a]! + c1 * beIm + c2 * cdIm;
      const twoRe = re[a]! + c2 * beRe + c1 * cdRe;
      const twoIm = im[a]! + c2 * beIm + c1 * cdIm;
      const oneTurnRe = s1 * beDifferenceIm + s2 * cdDifferenceIm;
      const oneTurnIm = -s1 * beDifferenceRe - s2 * cdDifferenceRe;
      const twoTurnRe = s2 * beDifferenceIm - s1 * cdDifferenceIm;
      const twoTurnIm = -s2 * beDifferenceRe + s1 * cdDifferenceRe;
      const y = q + 5 * stride * p;
      outRe[y] = re[a]! + beRe + cdRe;
      outIm[y] = im[a]! + beIm + cdIm;
      outRe[y + stride] = oneRe + oneTurnRe;
      outIm[y + stride] = oneIm + oneTurnIm;
      outRe[y + 2 * stride] = twoRe + twoTurnRe;
      outIm[y + 2 * stride] = twoIm + twoTurnIm;
      outRe[y + 3 * stride] = twoRe - twoTurnRe;
      outIm[y + 3 * stride] = twoIm - twoTurnIm;
      outRe[y + 4 * stride] = oneRe - oneTurnRe;
      outIm[y + 4 * stride] = oneIm - oneTurnIm;
      turn(to, y, pass, p);
    }
  }
}

/** Any radix, by the sum of its definition. */
function passOfAny(pass: Pass, from: ComplexValues, to: ComplexValues): void {
  const { radix, length, stride, roots } = pass;
  for (let p = 0; p < length; p += 1)
    for (let q = 0; q < stride; q += 1) {
      const y = q + radix * stride * p;
      for (let k = 0; k < radix; k += 1) {
        let real = 0;
        let imaginary = 0;
        for (let i = 0; i < radix; i += 1) {
          const source = q + stride * (p + length * i);
          const root = (i * k) % radix;
          real += from.real[source]! * roots.real[root]! - from.imaginary[source]! * roots.imaginary[root]!;
          imaginary +=
            from.real[source]! * roots.imaginary[root]! + from.imaginary[source]! * roots.real[root]!;
        }
        to.real[y + k * stride] = real;
        to.imaginary[y + k * stride] = imaginary;
      }
      turn(to, y, pass, p);
    }
}

/** Multiplies the outputs of butterfly `p`, which begin at `y`, by their twiddle factors. */
function turn(
  { real, imaginary }: ComplexValues,
  y: number,
  { radix, stride, twiddles }: Pass,
  p: number,
): void {
  if (p === 0) return;
  for (let k = 1, w = p * (radix - 1); k < radix; k += 1, w += 1) {
    const at = y + k * stride;
    const [re, im] = [real[at]!, imaginary[at]!];
    const [cosine, sine] = [twiddles.real[w]!, twiddles.imaginary[w]!];
    real[at] = re * cosine - im * sine;
    imaginary[at] = re * sine + im * cosine;
  }
}

/**
 * Power spectra of real frames of one even length, by a mixed-radix Stockham transform of half the length (radix 4
 * and 5; other primes are slower), whose result is split into the spectrum of the real frame. Tables are computed
 * once; an instance serves one caller at a time.
 */
export class RealFourierTransform {
  private readonly half: number;
  private readonly passes: Pass[];
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;
  private readonly buffers: [ComplexValues, ComplexValues];

  /** Errors: RangeError if `size` is odd or below 2. */
  constructor(readonly size: number) {
    if (size < 2 || size % 2 !== 0)
      throw new RangeError(`A frame of ${size} samples: the length must be even and at least 2`);
    this.half = size / 2;
    this.passes = planPasses(this.half, factorsOf(this.half));
    this.cosines = Float64Array.from({ length: size }, (_, k) => Math.cos((2 * Math.PI * k) / size));
    this.sines = Float64Array.from({ length: size }, (_, k) => -Math.sin((2 * Math.PI * k) / size));
    this.buffers = [new ComplexValues(this.half), new ComplexValues(this.half)];
  }

  /** Writes |X[k]|² for k = 0 … size / 2 of the `size` values of `frame` to `power` (size / 2 + 1 values). */
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
