import { setImmediate } from 'node:timers/promises';
import { MegaNestError } from '#platform/contracts';
import {
  UnreadableAudioError,
  mixDown,
  type PcmPiece,
  decodeFlac,
  decodeMp3,
  decodeWav,
} from './file-decoders.js';
import { decodePackets } from './decode-packets.js';
import { concatSamples, Resampler } from './resampler.js';

/** The decoder of a file; `packets`: Ogg, WebM, Matroska and MP4 with Opus or Vorbis. */
type AudioType = 'wav' | 'flac' | 'ogg-flac' | 'mp3' | 'packets';

/** Detects the type by the first bytes; file names and MIME types are ignored. Errors: UnreadableAudioError. */
function detectAudioType(bytes: Uint8Array): AudioType {
  const text = (start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WAVE') return 'wav';
  if (text(0, 4) === 'fLaC') return 'flac';
  if (text(0, 4) === 'OggS') return text(0, 128).includes('\u007FFLAC') ? 'ogg-flac' : 'packets';
  if (text(4, 8) === 'ftyp' || (bytes[0] === 0x1a && text(0, 4) === '\u001AE\u00DF\u00A3')) return 'packets';
  if (text(0, 3) === 'ID3') return 'mp3';
  if (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0) {
    // The two layer bits are zero only in AAC frames.
    if ((bytes[1]! & 0x06) === 0) throw new UnreadableAudioError('AAC is not supported');
    return 'mp3';
  }
  throw new UnreadableAudioError(
    'its content is not in a supported audio format; send wav, flac, mp3, ogg or webm',
  );
}

/** Options of {@link decodeAudio}. */
export interface DecodeAudioOptions {
  /** Sample rate of the result, in Hz. */
  sampleRate: number;
  /** Longer audio is refused, in seconds. */
  maxSeconds: number;
  /** File name for error messages. */
  filename?: string;
  signal?: AbortSignal;
}

/** Number of pieces between two checks of the signal. */
const piecesPerTurn = 32;
const sampleRates = { min: 2_000, max: 384_000 };

/**
 * Decodes a file to one channel at the given rate, piece by piece, so that the audio at the file's own rate is
 * never whole in memory. Errors: unsupported_file (with the reason), payload_too_large (too long), cancelled.
 */
export async function decodeAudio(bytes: Uint8Array, options: DecodeAudioOptions): Promise<Float32Array> {
  const file = options.filename ?? 'audio';
  try {
    const samples = await collect(piecesOf(bytes), options);
    if (samples.length === 0) throw new UnreadableAudioError('it does not contain audio');
    return samples;
  } catch (cause) {
    if (cause instanceof MegaNestError) throw cause;
    // The libraries throw errors of any kind for unexpected content.
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new MegaNestError('unsupported_file', { file, detail, param: 'file', cause });
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<PcmPiece, void, void> {
  if (bytes.length === 0) throw new UnreadableAudioError('it is empty');
  const type = detectAudioType(bytes);
  if (type === 'wav') yield* decodeWav(bytes);
  else if (type === 'mp3') yield* decodeMp3(bytes);
  else if (type === 'packets') yield* decodePackets(bytes);
  else yield* decodeFlac(bytes, type === 'ogg-flac');
}

async function collect(pieces: AsyncIterable<PcmPiece>, options: DecodeAudioOptions): Promise<Float32Array> {
  const track = new GrowingTrack(options);
  let count = 0;
  for await (const piece of pieces) {
    track.add(piece);
    if (++count % piecesPerTurn === 0) await setImmediate();
    if (options.signal?.aborted) throw new MegaNestError('cancelled');
  }
  return track.finish();
}

/** Collects resampled audio; a change of the rate within a file starts a new segment. */
class GrowingTrack {
  private readonly parts: Float32Array[] = [];
  private length = 0;
  private resampler?: Resampler;

  constructor(private readonly options: DecodeAudioOptions) {}

  add(piece: PcmPiece): void {
    const { sampleRate } = piece;
    if (!(sampleRate >= sampleRates.min && sampleRate <= sampleRates.max))
      throw new UnreadableAudioError(`its sample rate of ${sampleRate} Hz is not supported`);
    if (this.resampler?.from !== sampleRate) {
      this.endSegment();
      this.resampler = new Resampler(sampleRate, this.options.sampleRate);
    }
    this.keep(this.resampler.push(mixDown(piece)));
  }

  finish(): Float32Array {
    this.endSegment();
    return concatSamples(this.parts);
  }

  private endSegment(): void {
    if (this.resampler) this.keep(this.resampler.finish());
  }

  private keep(samples: Float32Array): void {
    const { maxSeconds, sampleRate } = this.options;
    this.parts.push(samples);
    this.length += samples.length;
    if (this.length > maxSeconds * sampleRate)
      throw new MegaNestError('payload_too_large', {
        what: 'The audio',
        limit: `${maxSeconds} seconds`,
        param: 'file',
      });
  }
}
