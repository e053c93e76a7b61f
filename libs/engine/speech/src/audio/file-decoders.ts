import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { decoder } from '@audio/decode-wav';
import libFactory from 'libflacjs';

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

/** Node has it, but the loaded type libraries do not declare it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
};

/** Exports of the module that are used. Positions and lengths are bytes of its memory, times are seconds. */
interface Minimp3 {
  memory: { buffer: ArrayBuffer };
  decoder_init(): void;
  decoder_set_mp3_data_size(bytes: number): void;
  decoder_mp3_data_offset(): number;
  decoder_seek(seconds: number): void;
  decoder_decode(seconds: number): void;
  decoder_pcm_data_offset(): number;
  decode_results_num_samples(): number;
  decode_results_num_channels(): number;
  decode_results_sampling_rate(): number;
}

const pieceSeconds = 5;
let compiled: object | undefined;

/** Decodes MPEG 1, 2 and 2.5, layers I to III, with minimp3; bytes between frames are skipped. */
export function* decodeMp3(bytes: Uint8Array): Generator<PcmPiece, void, void> {
  const decoder = open();
  decoder.decoder_init();
  decoder.decoder_set_mp3_data_size(bytes.length);
  new Uint8Array(decoder.memory.buffer, decoder.decoder_mp3_data_offset(), bytes.length).set(bytes);
  decoder.decoder_seek(0);
  for (;;) {
    decoder.decoder_decode(pieceSeconds);
    const samples = decoder.decode_results_num_samples();
    const channels = decoder.decode_results_num_channels();
    if (samples === 0 || channels === 0) return;
    const pcm = new Int16Array(decoder.memory.buffer, decoder.decoder_pcm_data_offset(), samples);
    yield { channels: separate(pcm, channels), sampleRate: decoder.decode_results_sampling_rate() };
  }
}

/** Each file gets a memory of its own, so that data of one file cannot reach another. */
function open(): Minimp3 {
  compiled ??= new WebAssembly.Module(
    readFileSync(createRequire(import.meta.url).resolve('minimp3-wasm/dist/decoder.opt.wasm')),
  );
  return new WebAssembly.Instance(compiled, {}).exports as Minimp3;
}

function separate(interleaved: Int16Array, channels: number): Float32Array[] {
  const frames = Math.floor(interleaved.length / channels);
  return Array.from({ length: channels }, (_, channel) =>
    Float32Array.from(
      { length: frames },
      (_sample, frame) => interleaved[frame * channels + channel]! / 32_768,
    ),
  );
}
