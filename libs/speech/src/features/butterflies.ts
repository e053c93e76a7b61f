/** Real and imaginary parts of complex numbers. */
export class ComplexValues {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;

  constructor(length: number) {
    this.real = new Float64Array(length);
    this.imaginary = new Float64Array(length);
  }
}

/** One pass of a Stockham transform. */
export interface Pass {
  readonly radix: number;
  /** Butterflies, each for `stride` interleaved transforms. */
  readonly length: number;
  readonly stride: number;
  /** `[length, radix − 1]`: what the outputs of a butterfly, but for the first, are multiplied by. */
  readonly twiddles: ComplexValues;
  /** e^(−2πi·k / radix) for k = 0 … radix − 1. */
  readonly roots: ComplexValues;
}

/** Plans the passes of a transform of the given length, radix by radix. */
export function planPasses(length: number, factors: readonly number[]): Pass[] {
  let rest = length;
  let stride = 1;
  return factors.map((radix) => {
    rest /= radix;
    const pass = { radix, length: rest, stride, twiddles: new ComplexValues(rest * (radix - 1)) };
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

/** Radix 4: two sums and two differences, of which a quarter turn swaps the parts. */
export function passOfFour(pass: Pass, from: ComplexValues, to: ComplexValues): void {
  const { length, stride } = pass;
  const { real: re, imaginary: im } = from;
  const { real: outRe, imaginary: outIm } = to;
  const step = stride * length;
  for (let p = 0; p < length; p += 1) {
    for (let q = 0; q < stride; q += 1) {
      const a = q + stride * p;
      const b = a + step;
      const c = b + step;
      const d = c + step;
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

/** Radix 5: by pairs of conjugate roots. */
export function passOfFive(pass: Pass, from: ComplexValues, to: ComplexValues): void {
  const { length, stride, roots } = pass;
  const { real: re, imaginary: im } = from;
  const { real: outRe, imaginary: outIm } = to;
  const [c1, c2, s1, s2] = [roots.real[1]!, roots.real[2]!, -roots.imaginary[1]!, -roots.imaginary[2]!];
  const step = stride * length;
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
export function passOfAny(pass: Pass, from: ComplexValues, to: ComplexValues): void {
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

/** Multiplies the outputs of butterfly `p`, which begin at `y`, by their twiddles. */
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
