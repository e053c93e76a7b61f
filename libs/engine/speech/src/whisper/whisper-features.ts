import { logMelSettingsSchema, LogMelFeatures } from '../features/log-mel.js';
import type { WhisperAudioSettings } from './whisper-settings.js';

const floor = 1e-10;
/** Dynamic range of a window in decades below its loudest value. */
const decades = 8;

/** Whisper's features of one window: log-mel of 25 ms frames, limited to eight decades, scaled, bands first. */
export class WhisperFeatures {
  private readonly logMel: LogMelFeatures;

  /** `frames`: frames of a window; shorter audio is padded with silence. */
  constructor(
    private readonly settings: WhisperAudioSettings,
    private readonly frames: number,
  ) {
    const { sampling_rate, feature_size, n_fft, hop_length } = settings;
    this.logMel = new LogMelFeatures(
      logMelSettingsSchema.parse({
        sampling_rate,
        n_fft,
        hop_length,
        n_mels: feature_size,
        log_floor: floor,
        fmax: Math.min(8_000, sampling_rate / 2),
        mel_norm: 'slaney',
        center: true,
        log: 'log10',
      }),
    );
  }

  /** Samples of a window. */
  get windowSamples(): number {
    return this.frames * this.settings.hop_length;
  }

  /** Computes `[bands, frames]` of the first {@link windowSamples} samples. */
  extract(samples: Float32Array): Float32Array {
    const { hop_length, n_fft, feature_size: bands } = this.settings;
    const available = Math.min(samples.length, this.windowSamples);
    // Frames beyond the audio and half a transform are silence, so they are not transformed.
    const needed = Math.ceil((available + n_fft) / hop_length) * hop_length;
    const padded = new Float32Array(Math.min(this.windowSamples, needed));
    padded.set(samples.subarray(0, available));
    const { values, frames } = this.logMel.extract(padded);
    const filled = Math.min(this.frames, frames);
    let loudest = filled < this.frames ? Math.log10(floor) : -Infinity;
    for (let index = 0; index < filled * bands; index++) loudest = Math.max(loudest, values[index]!);
    const lowest = loudest - decades;
    const scaled = (value: number) => (Math.max(value, lowest) + 4) / 4;
    const features = new Float32Array(bands * this.frames).fill(scaled(Math.log10(floor)));
    for (let band = 0; band < bands; band++)
      for (let frame = 0; frame < filled; frame++)
        features[band * this.frames + frame] = scaled(values[frame * bands + band]!);
    return features;
  }
}
