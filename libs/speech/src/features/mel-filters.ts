/** A triangle over the bins of a spectrum: `weights[i]` applies to bin `first + i`. */
export interface MelFilter {
  first: number;
  weights: Float64Array;
}

/** Options of {@link melFilters}. */
export interface MelScaleOptions {
  bands: number;
  /** Length of the transform; the spectrum has size / 2 + 1 bins. */
  size: number;
  samplingRate: number;
  /** Hz. */
  lowest: number;
  /** Hz. */
  highest: number;
  scale: 'slaney' | 'htk';
  /** Divide each triangle by half its width in Hz, so that all have the same area. */
  unitArea: boolean;
}

/**
 * Computes triangles with corners evenly spaced in mel: band b rises from corner b to b + 1 and falls to b + 2,
 * linear in Hz, with peak 1. Bin k lies at k · rate / size Hz. The result equals librosa's and torchaudio's filter
 * banks.
 */
export function melFilters(options: MelScaleOptions): MelFilter[] {
  const { bands, size, samplingRate, lowest, highest, unitArea } = options;
  const { toMel, toHertz } = scales[options.scale];
  const [from, to] = [toMel(lowest), toMel(highest)];
  const corners = Array.from({ length: bands + 2 }, (_, index) =>
    toHertz(from + ((to - from) * index) / (bands + 1)),
  );
  return Array.from({ length: bands }, (_, band) => {
    const [left = 0, peak = 0, right = 0] = corners.slice(band, band + 3);
    const gain = unitArea ? 2 / (right - left) : 1;
    const weights = Array.from({ length: size / 2 + 1 }, (_, bin) => {
      const hertz = (bin * samplingRate) / size;
      return gain * Math.max(0, Math.min((hertz - left) / (peak - left), (right - hertz) / (right - peak)));
    });
    return withoutZeros(weights);
  });
}

function withoutZeros(weights: number[]): MelFilter {
  const first = Math.max(
    0,
    weights.findIndex((weight) => weight > 0),
  );
  const last = weights.findLastIndex((weight) => weight > 0);
  return { first, weights: Float64Array.from(weights.slice(first, last + 1)) };
}

/** Slaney's: linear below 1,000 Hz (200/3 Hz a mel), then 27 mels for a factor of 6.4. HTK's: 2595 · log10(1 + f/700). */
const scales = {
  slaney: {
    toMel: (hertz: number) =>
      hertz < 1000 ? (3 * hertz) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4),
    toHertz: (mel: number) => (mel < 15 ? (200 * mel) / 3 : 1000 * 6.4 ** ((mel - 15) / 27)),
  },
  htk: {
    toMel: (hertz: number) => 2595 * Math.log10(1 + hertz / 700),
    toHertz: (mel: number) => 700 * (10 ** (mel / 2595) - 1),
  },
};
