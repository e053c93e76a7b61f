/** A stretch of decoded audio, one array of samples in [−1, 1] for each channel. */
export interface PcmPiece {
  channels: readonly Float32Array[];
  /** Samples a second. */
  sampleRate: number;
}

/** Thrown by decoders for content that they cannot read; the message says what is wrong with it. */
export class UnreadableAudioError extends Error {
  override readonly name = 'UnreadableAudioError';
}

/** The mean of the channels. */
export function mixDown({ channels }: PcmPiece): Float32Array {
  const [first = new Float32Array(), ...others] = channels;
  if (others.length === 0) return first;
  return first.map(
    (sample, index) => others.reduce((sum, channel) => sum + (channel[index] ?? 0), sample) / channels.length,
  );
}
