import { z } from 'zod';
import { RealFourierTransform } from './fourier-transform.js';

/**
 * `preprocessor_config.json` of a model with log-mel features. {@link LogMelFeatures} gives the formula of each
 * field; names follow the Hugging Face files where these have one.
 */
export const logMelSettingsSchema = z
  .object({
    sampling_rate: z.int().min(4_000).max(96_000).default(16_000).describe('Samples a second'),
    n_mels: z.int().min(1).max(512).default(80).describe('Bands, the width of a frame'),
    n_fft: z
      .int()
      .min(2)
      .max(16_384)
      .multipleOf(2)
      .default(512)
      .describe('Length of the transform in samples'),
    win_length: z.int().min(2).max(16_384).optional().describe('Length of the window; n_fft where absent'),
    hop_length: z.int().min(1).max(16_384).default(160).describe('Samples between frames'),
    fmin: z.number().min(0).default(0).describe('Lower end of the lowest band in Hz'),
    fmax: z
      .number()
      .positive()
      .nullish()
      .describe('Upper end of the highest band in Hz; half the rate where absent'),
    mel_scale: z.enum(['slaney', 'htk']).default('slaney'),
    mel_norm: z.enum(['slaney', 'none']).default('none').describe('slaney: each filter has unit area'),
    center: z.boolean().default(false).describe('Frames lie around their times, ends reflected'),
    preemphasis: z.number().min(0).max(1).default(0),
    log: z.enum(['natural', 'log10']).default('natural'),
    log_floor: z.number().positive().default(1e-10),
    normalisation: z.enum(['none', 'per_band', 'utterance', 'fixed']).default('none'),
    mean: z.array(z.number()).optional().describe('Of each band; normalisation fixed only'),
    std: z.array(z.number().positive()).optional().describe('Of each band; normalisation fixed only'),
  })
  .refine(({ n_fft, win_length = n_fft }) => win_length <= n_fft, {
    path: ['win_length'],
    error: 'The window is longer than the transform',
  })
  .refine(({ sampling_rate, fmin, fmax }) => (fmax ?? sampling_rate / 2) > fmin, {
    path: ['fmax'],
    error: 'fmax must lie above fmin',
  })
  .refine(
    ({ normalisation, mean, std, n_mels }) =>
      normalisation !== 'fixed' || (mean?.length === n_mels && std?.length === n_mels),
    { path: ['mean'], error: 'Fixed normalisation needs n_mels values of mean and of std' },
  );

/** Settings of log-mel features. */
type LogMelSettings = z.infer<typeof logMelSettingsSchema>;

/** Frames in sequence: `values[frame · bands + band]`. */
interface SpeechFeatures {
  values: Float32Array;
  frames: number;
  bands: number;
}

/**
 * Log-mel features, exactly (x: samples in [−1, 1] at `sampling_rate`; W = `win_length`, F = `n_fft`, H =
 * `hop_length`):
 *
 * 1. pre-emphasis a > 0: y[n] = x[n] − a · x[n−1], y[0] = x[0]; otherwise y = x.
 * 2. `center`: F/2 samples are added at both ends by reflection (y[1], y[2] … at the left end; the border sample is
 *    not repeated). Otherwise nothing is padded, but audio shorter than F gets zeros at its end up to F.
 * 3. frames = 1 + ⌊(length − F) / H⌋; frame t covers samples t·H … t·H + F − 1.
 * 4. window: periodic Hann of W points, w[n] = 0.5 − 0.5 · cos(2πn / W), in the middle of the F points (⌊(F − W) / 2⌋
 *    zeros at its left).
 * 5. power spectrum P[k] = |DFT(w · y)[k]|², k = 0 … F/2, not scaled.
 * 6. mel: triangles from `fmin` to `fmax`, see {@link melFilters} (`mel_norm` slaney: divided by half their width).
 * 7. logarithm: ln or log10 of max(m, `log_floor`).
 * 8. `normalisation`: per_band: (v − mean) / (std + 1e-5) with the mean and the standard deviation (divided by the
 *    number of frames) of each band over the frames of this piece of audio; utterance: one mean and one deviation over
 *    all values; fixed: (v − `mean`[band]) / `std`[band]; none: unchanged.
 *
 * In PyTorch steps 2 to 5 are `torch.stft(y, F, H, W, torch.hann_window(W), center=…, pad_mode='reflect',
 * return_complex=True).abs() ** 2`, step 6 is `torchaudio.functional.melscale_fbanks(F // 2 + 1, fmin, fmax, n_mels,
 * sampling_rate, norm=None or 'slaney', mel_scale=…)`.
 */
export class LogMelFeatures {
  private readonly window: Float64Array;
  private readonly filters: MelFilter[];
  private readonly transform: RealFourierTransform;

  constructor(private readonly settings: LogMelSettings) {
    const { n_fft, win_length = n_fft } = settings;
    this.window = hannWindow(win_length, n_fft);
    this.transform = new RealFourierTransform(n_fft);
    this.filters = melFilters(settings);
  }

  /** Computes the features of a piece of audio at the settings' rate; at least one frame. */
  extract(samples: Float32Array): SpeechFeatures {
    const { n_fft, hop_length, n_mels } = this.settings;
    const signal = this.prepare(samples);
    const frames = 1 + Math.floor((signal.length - n_fft) / hop_length);
    const values = new Float32Array(frames * n_mels);
    const frame = new Float64Array(n_fft);
    const power = new Float64Array(n_fft / 2 + 1);
    for (let index = 0; index < frames; index += 1) {
      const start = index * hop_length;
      for (let n = 0; n < n_fft; n += 1) frame[n] = signal[start + n]! * this.window[n]!;
      this.transform.powerSpectrum(frame, power);
      this.writeBands(power, values, index * n_mels);
    }
    normalize(values, this.settings);
    return { values, frames, bands: n_mels };
  }

  private prepare(samples: Float32Array): Float32Array {
    const { n_fft, center, preemphasis } = this.settings;
    const signal = preemphasis > 0 ? emphasise(samples, preemphasis) : samples;
    if (center) return reflectEnds(signal, n_fft / 2);
    if (signal.length >= n_fft) return signal;
    const padded = new Float32Array(n_fft);
    padded.set(signal);
    return padded;
  }

  private writeBands(power: Float64Array, values: Float32Array, offset: number): void {
    const { log, log_floor } = this.settings;
    const logarithm = log === 'log10' ? Math.log10 : Math.log;
    for (let band = 0; band < this.filters.length; band += 1) {
      const { first, weights } = this.filters[band]!;
      let sum = 0;
      for (let index = 0; index < weights.length; index += 1) sum += weights[index]! * power[first + index]!;
      values[offset + band] = logarithm(Math.max(sum, log_floor));
    }
  }
}

function hannWindow(length: number, size: number): Float64Array {
  const window = new Float64Array(size);
  const left = Math.floor((size - length) / 2);
  for (let n = 0; n < length; n += 1) window[left + n] = 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / length);
  return window;
}

function emphasise(samples: Float32Array, factor: number): Float32Array {
  return samples.map((sample, index) => sample - (index > 0 ? factor * samples[index - 1]! : 0));
}

/** Reflects repeatedly if the audio is shorter than the padding; pads empty audio with silence. */
function reflectEnds(samples: Float32Array, pad: number): Float32Array {
  const { length } = samples;
  const padded = new Float32Array(Math.max(length, 1) + 2 * pad);
  if (length === 0) return padded;
  padded.set(samples, pad);
  const period = Math.max(1, 2 * (length - 1));
  const reflected = (index: number) => {
    const place = ((index % period) + period) % period;
    return samples[place < length ? place : period - place]!;
  };
  for (let n = 1; n <= pad; n += 1) {
    padded[pad - n] = reflected(-n);
    padded[pad + length - 1 + n] = reflected(length - 1 + n);
  }
  return padded;
}

function normalize(values: Float32Array, settings: LogMelSettings): void {
  const { normalisation, n_mels, mean, std } = settings;
  if (normalisation === 'utterance') return standardize(values, 0, 1);
  if (normalisation === 'per_band')
    for (let band = 0; band < n_mels; band += 1) standardize(values, band, n_mels);
  if (normalisation === 'fixed')
    for (let index = 0; index < values.length; index += 1)
      values[index] = (values[index]! - mean![index % n_mels]!) / std![index % n_mels]!;
}

/** Scales every `step`th value from `first` to mean 0 and deviation 1. */
function standardize(values: Float32Array, first: number, step: number): void {
  let count = 0;
  let sum = 0;
  for (let index = first; index < values.length; index += step, count += 1) sum += values[index]!;
  const mean = sum / count;
  let squares = 0;
  for (let index = first; index < values.length; index += step) squares += (values[index]! - mean) ** 2;
  const deviation = Math.sqrt(squares / count) + 1e-5;
  for (let index = first; index < values.length; index += step)
    values[index] = (values[index]! - mean) / deviation;
}

/** A triangle over the bins of a spectrum: `weights[i]` applies to bin `first + i`. */
interface MelFilter {
  first: number;
  weights: Float64Array;
}

/**
 * Computes triangles with corners evenly spaced in mel: band b rises from corner b to b + 1 and falls to b + 2,
 * linear in Hz, with peak 1 or unit area. Bin k lies at k · rate / size Hz. The result equals librosa's and
 * torchaudio's filter banks.
 */
function melFilters(settings: LogMelSettings): MelFilter[] {
  const { n_mels: bands, n_fft: size, sampling_rate: samplingRate, fmin, fmax, mel_norm } = settings;
  const { toMel, toHertz } = scales[settings.mel_scale];
  const [from, to] = [toMel(fmin), toMel(fmax ?? samplingRate / 2)];
  const corners = Array.from({ length: bands + 2 }, (_, index) =>
    toHertz(from + ((to - from) * index) / (bands + 1)),
  );
  return Array.from({ length: bands }, (_, band) => {
    const [left = 0, peak = 0, right = 0] = corners.slice(band, band + 3);
    const gain = mel_norm === 'slaney' ? 2 / (right - left) : 1;
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

/** Slaney's: linear below 1,000 Hz (200/3 Hz per mel), then 27 mels per factor 6.4. HTK's: 2595 · log10(1 + f/700). */
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
