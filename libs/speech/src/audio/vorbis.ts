import { createRequire } from 'node:module';
import { UnreadableAudioError, type PcmPiece } from './pcm.js';

/** The parts of ogv.js's decoder (libvorbis) that are used; it calls back before it returns. */
interface OgvVorbis {
  audioFormat: { channels: number; rate: number } | null;
  audioBuffer: Float32Array[] | null;
  init(done: () => void): void;
  processHeader(packet: ArrayBuffer, done: (success: boolean) => void): void;
  processAudio(packet: ArrayBuffer, done: (success: boolean) => void): void;
  close(): void;
}

/**
 * Opens a decoder of one Vorbis stream. `head`: its three header packets, laced as in Matroska's private data.
 * Errors: UnreadableAudioError for invalid headers.
 */
export async function openVorbis(head: Uint8Array) {
  const require = createRequire(import.meta.url);
  const create = require('ogv/dist/ogv-decoder-audio-vorbis-wasm.js') as (
    options: object,
  ) => Promise<OgvVorbis>;
  const decoder = await create({});
  await new Promise<void>((resolve) => decoder.init(resolve));
  for (const packet of headerPackets(head)) decoder.processHeader(copyOf(packet), () => undefined);
  const { audioFormat } = decoder;
  if (!audioFormat) throw new UnreadableAudioError('its Vorbis headers cannot be read');
  return {
    decode(packet: Uint8Array): PcmPiece | undefined {
      decoder.processAudio(copyOf(packet), () => undefined);
      const { audioBuffer } = decoder;
      if (!audioBuffer?.[0]?.length) return undefined;
      return { channels: audioBuffer.map((channel) => channel.slice()), sampleRate: audioFormat.rate };
    },
    free: () => decoder.close(),
  };
}

/**
 * Splits Xiph lacing: the number of packets minus one, then the size of each packet except the last, in bytes that
 * are summed until one is below 255.
 */
function headerPackets(head: Uint8Array): Uint8Array[] {
  let place = 1;
  const sizes = Array.from({ length: Math.min(head[0] ?? 0, 2) }, () => {
    let size = 0;
    let byte = 255;
    while (byte === 255 && place < head.length) size += byte = head[place++]!;
    return size;
  });
  return [...sizes, head.length].map((size) => head.subarray(place, (place += size)));
}

function copyOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
