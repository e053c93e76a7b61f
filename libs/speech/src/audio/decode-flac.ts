import libFactory from 'libflacjs';
import { UnreadableAudioError, type PcmPiece } from './pcm.js';

type Library = ReturnType<typeof libFactory>;
let library: Promise<Library> | undefined;

const endOfStream = 4;

/** Decodes FLAC, native or in Ogg, with libFLAC; damaged frames are skipped. Errors: UnreadableAudioError. */
export async function* decodeFlac(bytes: Uint8Array, inOgg: boolean): AsyncGenerator<PcmPiece, void, void> {
  library ??= loadLibrary();
  const flac = await library;
  const pieces: PcmPiece[] = [];
  const problems: string[] = [];
  const decoder = flac.create_libflac_decoder(false);
  try {
    const status = flac.init_decoder_stream(
      decoder,
      byteReader(bytes),
      (channels, { bitsPerSample, blocksize, sampleRate }) => {
        const samples = channels.map((data) => toSamples(data, data.length / blocksize, bitsPerSample));
        pieces.push({ channels: samples, sampleRate });
      },
      (_code, status) => problems.push(String(status)),
      undefined,
      inOgg,
    );
    if (status !== 0) throw new UnreadableAudioError(`the FLAC decoder refuses it (${status})`);
    let decoded = false;
    while (flac.FLAC__stream_decoder_get_state(decoder) < endOfStream) {
      const goesOn = flac.FLAC__stream_decoder_process_single(decoder);
      decoded ||= pieces.length > 0;
      yield* pieces.splice(0);
      if (!goesOn) break;
    }
    if (!decoded)
      throw new UnreadableAudioError(`it does not contain a readable FLAC frame ${problems[0] ?? ''}`.trim());
  } finally {
    flac.FLAC__stream_decoder_finish(decoder);
    flac.FLAC__stream_decoder_delete(decoder);
  }
}

async function loadLibrary(): Promise<Library> {
  const flac = libFactory('min.asmjs');
  if (!flac.isReady()) await new Promise<void>((resolve) => flac.on('ready', resolve));
  return flac;
}

function byteReader(bytes: Uint8Array) {
  let place = 0;
  return (maxBytes: number) => {
    const buffer = bytes.slice(place, place + maxBytes);
    place += buffer.length;
    return buffer.length === 0
      ? { buffer: undefined, readDataLength: 0 as const, error: false }
      : { buffer, readDataLength: buffer.length, error: false };
  };
}

/** Converts little-endian integers of `width` bytes, of which `bits` bits are used, to samples. */
function toSamples(data: Uint8Array, width: number, bits: number): Float32Array {
  const scale = 2 ** (bits - 1);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const read = [
    (at: number) => view.getInt8(at),
    (at: number) => view.getInt16(at, true),
    (at: number) => (view.getInt8(at + 2) << 16) | view.getUint16(at, true),
    (at: number) => view.getInt32(at, true),
  ][width - 1]!;
  return Float32Array.from({ length: data.length / width }, (_, index) => read(index * width) / scale);
}
