import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PcmPiece } from './pcm.js';

/** Node has it; the type libraries that are loaded here do not say so. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
};

/** What the module exports, as far as it is used; positions and lengths are bytes of its memory, times seconds. */
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

/** MPEG 1, 2 and 2.5, layers I to III, with minimp3; what is no frame is skipped. */
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

/** A fresh memory for each file: nothing of one can reach another. */
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
