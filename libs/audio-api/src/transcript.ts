import { MegaNestError, type TranscriptChunk, type TranscriptSegment } from '#contracts';

export type AudioDescription = NonNullable<TranscriptChunk['audio']>;

/** What is known once a transcript has begun: the audio, and its segments as they come. */
export interface BegunTranscript {
  audio: AudioDescription;
  segments: AsyncIterable<TranscriptSegment>;
}

/** A whole transcript. */
export interface Transcript {
  audio: AudioDescription;
  segments: TranscriptSegment[];
  text: string;
}

/** Waits for the first chunk, so that errors before it get their own status. Errors: what the chunks throw. */
export async function beginTranscript(chunks: AsyncIterable<TranscriptChunk>): Promise<BegunTranscript> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  const audio = first.done ? undefined : first.value.audio;
  if (!audio)
    throw new MegaNestError('bad_upstream', { service: 'asr', detail: 'it did not describe the audio' });
  return { audio, segments: segmentsOf({ [Symbol.asyncIterator]: () => iterator }) };
}

async function* segmentsOf(chunks: AsyncIterable<TranscriptChunk>): AsyncGenerator<TranscriptSegment> {
  for await (const { segment } of chunks) if (segment) yield segment;
}

/** Reads to the end. */
export async function finishTranscript({ audio, segments }: BegunTranscript): Promise<Transcript> {
  const all: TranscriptSegment[] = [];
  for await (const segment of segments) all.push(segment);
  return { audio, segments: all, text: all.map((segment, index) => appended(segment, index === 0)).join('') };
}

/** The text of a segment as it follows the one before. */
export function appended({ text, joined }: TranscriptSegment, isFirst: boolean): string {
  return isFirst || joined ? text : ` ${text}`;
}
