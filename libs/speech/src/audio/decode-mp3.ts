import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PcmPiece } from './pcm.js';

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
