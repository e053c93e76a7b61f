import { setImmediate } from 'node:timers/promises';
import { MegaNestError } from '#contracts';
import { detectAudioType } from './audio-type.js';
import { decodeFlac } from './decode-flac.js';
import { decodeMp3 } from './decode-mp3.js';
import { decodePackets } from './decode-packets.js';
import { decodeWav } from './decode-wav.js';
import { mixDown, UnreadableAudioError, type PcmPiece } from './pcm.js';
import { Resampler } from './resampler.js';

export interface DecodeAudioOptions {
  /** Samples a second of the result. */
  sampleRate: number;
  /** Longer audio is refused. */
  maxSeconds: number;
  /** For errors. */
  filename?: string;
  signal?: AbortSignal;
}

/** Pieces after which cancels are looked at. */
const piecesPerTurn = 32;
const sampleRates = { least: 2_000, most: 384_000 };

/**
 * One channel at the wanted rate, decoded piece by piece so that no copy at the file's own rate lies in memory. Errors:
 * unsupported_file (what it is or lacks), payload_too_large (too long), cancelled.
 */
export async function decodeAudio(bytes: Uint8Array, options: DecodeAudioOptions): Promise<Float32Array> {
  const file = options.filename ?? 'audio';
  try {
    const samples = await collect(piecesOf(bytes), options);
    if (samples.length === 0) throw new UnreadableAudioError('it holds no audio');
    return samples;
  } catch (cause) {
    if (cause instanceof MegaNestError) throw cause;
    // The libraries throw whatever they like at content that they did not expect.
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

/** Resampled audio as it grows; a change of rate in mid-file begins a new stretch. */
class GrowingTrack {
  private readonly parts: Float32Array[] = [];
  private length = 0;
  private resampler?: Resampler;

  constructor(private readonly options: DecodeAudioOptions) {}

  add(piece: PcmPiece): void {
    const { sampleRate } = piece;
    if (!(sampleRate >= sampleRates.least && sampleRate <= sampleRates.most))
      throw new UnreadableAudioError(`its rate of ${sampleRate} samples a second is none`);
    if (this.resampler?.from !== sampleRate) {
      this.endStretch();
      this.resampler = new Resampler(sampleRate, this.options.sampleRate);
    }
    this.keep(this.resampler.push(mixDown(piece)));
  }

  finish(): Float32Array {
    this.endStretch();
    const samples = new Float32Array(this.length);
    let place = 0;
    for (const part of this.parts.splice(0)) {
      samples.set(part, place);
      place += part.length;
    }
    return samples;
  }

  private endStretch(): void {
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
