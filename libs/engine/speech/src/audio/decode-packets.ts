import { createRequire } from 'node:module';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputAudioTrack } from 'mediabunny';
import { OpusDecoder } from 'opus-decoder';
import { UnreadableAudioError, type PcmPiece } from './file-decoders.js';

/** Decodes the packets of one codec. */
interface PacketDecoder {
  decode(packet: Uint8Array): PcmPiece | undefined;
  free(): void;
}

/** Decodes the first audio track, Opus or Vorbis, in Ogg, WebM, Matroska or MP4. Errors: UnreadableAudioError. */
export async function* decodePackets(bytes: Uint8Array): AsyncGenerator<PcmPiece, void, void> {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const track = await readContainer(() => input.getPrimaryAudioTrack());
  if (!track) throw new UnreadableAudioError('it does not have an audio track');
  const decoder = await openDecoder(track);
  try {
    const packets = new EncodedPacketSink(track).packets();
    for (;;) {
      const next = await readContainer(() => packets.next());
      if (next.done) return;
      const piece = decoder.decode(next.value.data);
      if (piece) yield piece;
    }
  } finally {
    decoder.free();
  }
}

async function openDecoder(track: InputAudioTrack): Promise<PacketDecoder> {
  const { codec } = track;
  const config = await readContainer(() => track.getDecoderConfig());
  const head = config?.description && bytesOf(config.description);
  if (codec === 'opus') return openOpus(head);
  if (codec === 'vorbis' && head) return openVorbis(head);
  throw new UnreadableAudioError(
    `${codec ?? 'its codec'} is not supported: send opus, vorbis, flac, mp3 or wav`,
  );
}

/**
 * `head`: the packet that begins with `OpusHead` (RFC 7845); without it the flag of each packet selects mono or stereo.
 */
async function openOpus(head: Uint8Array | undefined): Promise<PacketDecoder> {
  const family = head?.[18] ?? 0;
  const channels = head?.[9] ?? 2;
  const layout =
    head && family > 0
      ? {
          channels,
          streamCount: head[19],
          coupledStreamCount: head[20],
          channelMappingTable: [...head.subarray(21, 21 + channels)],
        }
      : {
          channels,
          streamCount: 1,
          coupledStreamCount: channels - 1,
          channelMappingTable: [0, 1].slice(0, channels),
        };
  const preSkip = head ? head[10]! | (head[11]! << 8) : 0;
  const decoder = new OpusDecoder({ ...layout, preSkip });
  await decoder.ready;
  return {
    decode: (packet) => {
      const { channelData, sampleRate, samplesDecoded } = decoder.decodeFrame(packet);
      return samplesDecoded > 0 ? { channels: channelData, sampleRate } : undefined;
    },
    free: () => decoder.free(),
  };
}

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
async function openVorbis(head: Uint8Array) {
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

function bytesOf(source: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

async function readContainer<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UnreadableAudioError(`its container cannot be read: ${detail}`, { cause });
  }
}
