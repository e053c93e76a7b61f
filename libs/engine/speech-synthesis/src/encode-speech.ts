import libFlac from 'libflacjs';
import { EncodedAudioPacketSource, EncodedPacket, OggOutputFormat, Output, StreamTarget } from 'mediabunny';
import OpusScript from 'opusscript';
import { createMp3Encoder } from 'wasm-media-encoders';
import type { SpeechFormat } from '#platform/contracts';
import { pcmWavHead } from '#platform/foundation';

/** Sample rate of all encoded speech, in Hz: OpenAI's rate, which clients assume for `pcm`. */
export const speechSampleRate = 24_000;

/** Encodes one audio file piece by piece. */
export interface SpeechEncoder {
  /** Adds samples (mono, -1 to 1, {@link speechSampleRate}); returns the next complete bytes of the file. */
  push(samples: Float32Array): Promise<Uint8Array>;
  /** Returns the rest of the file. */
  finish(): Promise<Uint8Array>;
  /** Frees the encoder, also before `finish`. Called once, last. */
  close(): void;
}

const nothing = new Uint8Array();

/** Creates an encoder for one file in the given format. */
export function createSpeechEncoder(format: SpeechFormat): Promise<SpeechEncoder> {
  return encoders[format]();
}

const encoders: Record<SpeechFormat, () => Promise<SpeechEncoder>> = {
  pcm: () =>
    Promise.resolve({
      push: (samples) => Promise.resolve(bytesOf(toInt16(samples))),
      finish: () => Promise.resolve(nothing),
      close: () => undefined,
    }),
  wav: () => Promise.resolve(createWavEncoder()),
  mp3: openMp3Encoder,
  opus: createOpusEncoder,
  flac: createFlacEncoder,
};

function toInt16(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767));
}

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** The header contains the length, so the file is written when all samples are known. */
function createWavEncoder(): SpeechEncoder {
  const pieces: Int16Array[] = [];
  return {
    push: (samples) => {
      pieces.push(toInt16(samples));
      return Promise.resolve(nothing);
    },
    finish: () => {
      const data = Buffer.concat(pieces.map(bytesOf));
      return Promise.resolve(Buffer.concat([pcmWavHead(data.length, speechSampleRate), data]));
    },
    close: () => undefined,
  };
}

/** Idle encoders for reuse, because compiling the program of an encoder takes time and memory. */
const idleMp3Encoders: Awaited<ReturnType<typeof createMp3Encoder>>[] = [];

async function openMp3Encoder(): Promise<SpeechEncoder> {
  const encoder = idleMp3Encoders.pop() ?? (await createMp3Encoder());
  // Resets a reused encoder.
  encoder.configure({ sampleRate: speechSampleRate, channels: 1, bitrate: 64 });
  return {
    // The next call overwrites the encoder's buffer.
    push: (samples) => Promise.resolve(encoder.encode([samples]).slice()),
    finish: () => Promise.resolve(encoder.finalize().slice()),
    close: () => void idleMp3Encoders.push(encoder),
  };
}

const opusFrameSeconds = 0.02;
const opusFrameSamples = speechSampleRate * opusFrameSeconds;
/** Samples at 48 kHz that an Opus decoder drops at the start: the delay of libopus. */
const opusPreSkip = 312;

/** The identification header of Opus in Ogg (RFC 7845, section 5.1). */
function opusHead(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head[8] = 1;
  head[9] = 1;
  head.writeUInt16LE(opusPreSkip, 10);
  head.writeUInt32LE(speechSampleRate, 12);
  return head;
}

async function createOpusEncoder(): Promise<SpeechEncoder> {
  const opus = new OpusScript(speechSampleRate, 1, OpusScript.Application.VOIP);
  opus.setBitrate(32_000);
  const written: Uint8Array[] = [];
  const target = new StreamTarget(
    new WritableStream({ write: ({ data }) => void written.push(data.slice()) }),
  );
  const output = new Output({ format: new OggOutputFormat(), target });
  const track = new EncodedAudioPacketSource('opus');
  output.addAudioTrack(track);
  await output.start();
  const decoderConfig = { codec: 'opus', numberOfChannels: 1, sampleRate: 48_000, description: opusHead() };
  let frames = 0;
  let rest = new Float32Array();
  const encode = async (samples: Float32Array) => {
    const packet = opus.encode(Buffer.from(bytesOf(toInt16(samples))), opusFrameSamples);
    const timed = new EncodedPacket(
      new Uint8Array(packet),
      'key',
      frames * opusFrameSeconds,
      opusFrameSeconds,
    );
    await track.add(timed, frames === 0 ? { decoderConfig } : undefined);
    frames += 1;
  };
  const taken = () => Buffer.concat(written.splice(0));
  return {
    push: async (samples) => {
      const all = new Float32Array(rest.length + samples.length);
      all.set(rest);
      all.set(samples, rest.length);
      const whole = all.length - (all.length % opusFrameSamples);
      for (let at = 0; at < whole; at += opusFrameSamples)
        await encode(all.subarray(at, at + opusFrameSamples));
      rest = all.slice(whole);
      return taken();
    },
    finish: async () => {
      const last = new Float32Array(opusFrameSamples);
      last.set(rest);
      await encode(last);
      await output.finalize();
      return taken();
    },
    close: () => opus.delete(),
  };
}

type FlacLibrary = ReturnType<typeof libFlac>;
let flacLibrary: Promise<FlacLibrary> | undefined;

async function loadFlac(): Promise<FlacLibrary> {
  const flac = libFlac('min.asmjs');
  if (!flac.isReady()) await new Promise<void>((resolve) => flac.on('ready', resolve));
  return flac;
}

async function createFlacEncoder(): Promise<SpeechEncoder> {
  flacLibrary ??= loadFlac();
  const flac = await flacLibrary;
  const written: Uint8Array[] = [];
  const encoder = flac.create_libflac_encoder(speechSampleRate, 1, 16, 5, 0, false, 0);
  if (encoder === 0) throw new Error('the FLAC encoder cannot be created');
  const status = flac.init_encoder_stream(
    encoder,
    (data) => void written.push(data.slice()),
    () => undefined,
  );
  if (status !== 0) throw new Error(`the FLAC encoder cannot start (${status})`);
  const taken = () => Buffer.concat(written.splice(0));
  return {
    push: (samples) => {
      const integers = Int32Array.from(toInt16(samples));
      flac.FLAC__stream_encoder_process_interleaved(encoder, integers, integers.length);
      return Promise.resolve(taken());
    },
    finish: () => {
      flac.FLAC__stream_encoder_finish(encoder);
      return Promise.resolve(taken());
    },
    close: () => flac.FLAC__stream_encoder_delete(encoder),
  };
}
