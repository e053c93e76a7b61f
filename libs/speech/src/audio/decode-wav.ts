import { decoder } from '@audio/decode-wav';
import { UnreadableAudioError, type PcmPiece } from './pcm.js';

/** Bytes decoded at once: samples take up to eight times as much memory. */
const pieceBytes = 1 << 18;

/**
 * Decodes WAV: integer PCM of 8 to 32 bits, float, A-law, µ-law, IMA and MS ADPCM. Errors: UnreadableAudioError.
 */
export function* decodeWav(bytes: Uint8Array): Generator<PcmPiece, void, void> {
  const wav = decoder();
  try {
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      const { channelData, sampleRate } = readPiece(() =>
        wav.decode(bytes.subarray(start, start + pieceBytes)),
      );
      if (channelData.length > 0) yield { channels: channelData, sampleRate };
    }
  } finally {
    wav.free();
  }
}

function readPiece<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new UnreadableAudioError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
