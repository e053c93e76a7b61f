import {
  type TranscriptChunk,
  type TranscriptionParameters,
  MegaNestError,
  type TranscriptSegment,
} from '#platform/contracts';
import type { HttpCall } from '#platform/service-kit';

/** An audio file, uploaded or fetched. */
export interface AudioFile {
  bytes: Uint8Array;
  filename: string;
  mimeType: string;
}

/** A request to transcribe or translate an audio file. */
export interface TranscriptionRequest extends TranscriptionParameters {
  audio: AudioFile;
  model?: string;
  task: 'transcribe' | 'translate';
  /** Include word times and log probabilities. */
  details: boolean;
}

/** Speech to text: by the model in this process, or by the asr service over NATS. Both serve the same HTTP API. */
export abstract class Transcription {
  /** Checks the name of a model. Errors: model_not_found if it is not the transcription model. */
  abstract assertModel(name: string, call: HttpCall): Promise<void>;

  /**
   * The first chunk describes the audio, each further chunk has a segment. Errors: the errors of the method
   * `asr.transcribe`.
   */
  abstract transcribe(request: TranscriptionRequest, call: HttpCall): AsyncIterable<TranscriptChunk>;
}

/** Description of the audio. */
export type AudioDescription = NonNullable<TranscriptChunk['audio']>;

/** A transcript after its first chunk: the audio is known, and the segments follow. */
export interface BegunTranscript {
  audio: AudioDescription;
  segments: AsyncIterable<TranscriptSegment>;
}

/** A complete transcript. */
export interface Transcript {
  audio: AudioDescription;
  segments: TranscriptSegment[];
  text: string;
}

/** Waits for the first chunk, so that errors before it have their own HTTP status. Errors: the errors of the chunks. */
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

/** Reads all segments. */
export async function finishTranscript({ audio, segments }: BegunTranscript): Promise<Transcript> {
  const all: TranscriptSegment[] = [];
  for await (const segment of segments) all.push(segment);
  return { audio, segments: all, text: all.map((segment, index) => appended(segment, index === 0)).join('') };
}

/** Returns the text of a segment with the space before it. */
export function appended({ text, joined }: TranscriptSegment, isFirst: boolean): string {
  return isFirst || joined ? text : ` ${text}`;
}
