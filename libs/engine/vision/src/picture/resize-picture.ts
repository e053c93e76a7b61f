import type { Picture } from './decode-picture.js';

/** A filter of Pillow: its width on either side in pixels of the smaller picture, and its weight at a distance. */
interface Filter {
  readonly support: number;
  readonly weight: (distance: number) => number;
}

const filters = {
  lanczos: { support: 3, weight: (x) => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0) },
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  bicubic: { support: 2, weight: bicubic },
} as const satisfies Record<string, Filter>;
/** The filters for {@link resizePicture}. */
export type FilterName = keyof typeof filters;

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Keys' cubic with a = −0.5. */
function bicubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/** The input pixels of one output pixel: the first of them, and their weights, whose sum is 1. */
interface Window {
  readonly first: number;
  readonly weights: Float64Array;
}

/**
 * Resizes a picture as Pillow does, with which models were trained: columns first, then rows, with the filter as wide
 * as the reduction, and each result rounded to 8 bits.
 */
export function resizePicture(picture: Picture, width: number, height: number, filter: FilterName): Picture {
  const wide = picture.width === width ? picture : resizeRows(picture, width, filters[filter]);
  return wide.height === height ? wide : resizeColumns(wide, height, filters[filter]);
}

function resizeRows(picture: Picture, width: number, filter: Filter): Picture {
  const { height, pixels } = picture;
  const target = new Uint8Array(width * height * 3);
  const windows = windowsOf(picture.width, width, filter);
  for (let y = 0; y < height; y++) {
    const row = y * picture.width;
    for (let x = 0; x < width; x++) {
      const { first, weights } = windows[x]!;
      let [red, green, blue] = [0, 0, 0];
      for (let index = 0, from = (row + first) * 3; index < weights.length; index++, from += 3) {
        const weight = weights[index]!;
        red += weight * pixels[from]!;
        green += weight * pixels[from + 1]!;
        blue += weight * pixels[from + 2]!;
      }
      const to = (y * width + x) * 3;
      target[to] = rounded(red);
      target[to + 1] = rounded(green);
      target[to + 2] = rounded(blue);
    }
  }
  return { width, height, pixels: target };
}

function resizeColumns({ width, height: from, pixels }: Picture, height: number, filter: Filter): Picture {
  const length = width * 3;
  const target = new Uint8Array(length * height);
  const sums = new Float64Array(length);
  for (const [y, { first, weights }] of windowsOf(from, height, filter).entries()) {
    sums.fill(0);
    for (const [index, weight] of weights.entries()) {
      const row = (first + index) * length;
      for (let x = 0; x < length; x++) sums[x]! += weight * pixels[row + x]!;
    }
    for (let x = 0; x < length; x++) target[y * length + x] = rounded(sums[x]!);
  }
  return { width, height, pixels: target };
}

function windowsOf(from: number, to: number, { support, weight }: Filter): Window[] {
  const scale = from / to;
  const stretch = Math.max(1, scale);
  return Array.from({ length: to }, (_, index) => {
    const center = (index + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support * stretch + 0.5));
    const end = Math.min(from, Math.trunc(center + support * stretch + 0.5));
    const weights = Float64Array.from({ length: end - first }, (_unused, offset) =>
      weight((first + offset - center + 0.5) / stretch),
    );
    const sum = weights.reduce((total, each) => total + each, 0);
    return { first, weights: weights.map((each) => each / sum) };
  });
}

function rounded(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}
