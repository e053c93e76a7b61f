import { z } from 'zod';

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
export type LogMelSettings = z.infer<typeof logMelSettingsSchema>;
