import type { TranscriptChunk, TranscriptionParameters } from '#contracts';
import type { HttpCall } from '#service-kit';

/** An audio file as it was sent or fetched. */
export interface AudioFile {
  bytes: Uint8Array;
  filename: string;
  mimeType: string;
}

export interface TranscriptionRequest extends TranscriptionParameters {
  audio: AudioFile;
  model?: string;
  task: 'transcribe' | 'translate';
  /** With times of words and logarithms of probabilities. */
  details: boolean;
}

/** What writes speech down: the model in this process, or the service behind NATS. Both serve the same HTTP API. */
export abstract class Transcription {
  /** Errors: model_not_found for any model but the one that transcribes. */
  abstract assertModel(name: string, call: HttpCall): Promise<void>;

  /**
   * The first chunk tells of the audio, each further one holds a segment. Errors: those of the method `asr.transcribe`.
   */
  abstract transcribe(request: TranscriptionRequest, call: HttpCall): AsyncIterable<TranscriptChunk>;
}
