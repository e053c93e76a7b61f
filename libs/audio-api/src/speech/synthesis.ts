import type { RequestOf, SpeechChunk, synthesize } from '#contracts';
import type { HttpCall } from '#service-kit';

export type SpeechRequest = RequestOf<typeof synthesize>;

/** Text to speech: the model in this process, or the tts service over NATS. Both serve the same HTTP API. */
export abstract class Synthesis {
  /** The first chunk describes the voice, each further one holds audio. Errors: those of the method `tts.synthesize`. */
  abstract synthesize(request: SpeechRequest, call: HttpCall): AsyncIterable<SpeechChunk>;
}

/** Speech whose voice is known and whose audio is still to come. */
export interface BegunSpeech {
  voice: NonNullable<SpeechChunk['voice']>;
  /** Encoded audio and its length in seconds. */
  pieces: AsyncGenerator<{ bytes: Buffer; seconds: number }, void, void>;
}

/** Waits for the first chunk, so that an error before it still gets its own status. */
export async function beginSpeech(chunks: AsyncIterable<SpeechChunk>): Promise<BegunSpeech> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done || !first.value.voice) throw new Error('Speech began without its voice.');
  return { voice: first.value.voice, pieces: piecesOf(iterator) };
}

async function* piecesOf(iterator: AsyncIterator<SpeechChunk>): BegunSpeech['pieces'] {
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      const { audio, seconds = 0 } = next.value;
      if (audio !== undefined) yield { bytes: Buffer.from(audio, 'base64'), seconds };
    }
  } finally {
    await iterator.return?.();
  }
}

/** The whole audio file. */
export async function finishSpeech({ pieces }: BegunSpeech): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const { bytes } of pieces) all.push(bytes);
  return Buffer.concat(all);
}
