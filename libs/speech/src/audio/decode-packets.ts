import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputAudioTrack } from 'mediabunny';
import { OpusDecoder } from 'opus-decoder';
import { UnreadableAudioError, type PcmPiece } from './pcm.js';
import { openVorbis } from './vorbis.js';

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
    `${codec ?? 'its codec'} is not decoded here: send opus, vorbis, flac, mp3 or wav`,
  );
}

/**
 * `head`: the packet that begins with `OpusHead` (RFC 7845); without it each packet's own flag says mono or stereo.
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
