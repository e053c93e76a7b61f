/** A piece of decoded audio: one array of samples in [−1, 1] per channel. */
export interface PcmPiece {
  channels: readonly Float32Array[];
  /** In Hz. */
  sampleRate: number;
}

/** Thrown by decoders for content that they cannot decode; the message gives the reason. */
export class UnreadableAudioError extends Error {
  override readonly name = 'UnreadableAudioError';
}

/** Returns the mean of the channels. */
export function mixDown({ channels }: PcmPiece): Float32Array {
  const [first = new Float32Array(), ...others] = channels;
  if (others.length === 0) return first;
  return first.map(
    (sample, index) => others.reduce((sum, channel) => sum + (channel[index] ?? 0), sample) / channels.length,
  );
}
