import { Readable } from 'node:stream';
import {
  describeAsrModel,
  MegaNestError,
  transcribe,
  type FileReference,
  type TranscriptChunk,
  type TranscriptSegment,
} from '#platform/contracts';
import { FairTurns } from '#platform/foundation';
import type { CallOptions, ObjectStore, RpcClient } from '#platform/messaging';
import { hasPictures } from '../../reading/media/media-type.js';
import { transcriptBlocks } from '../../reading/media/transcript-blocks.js';
import { unsupportedFile, type ParsedDocument, type SourceFile } from '../../reading/parsed-document.js';
import type { OnPart } from '../prepare-document.js';
import { withPatience } from '../with-patience.js';

/** Recordings that are transcribed at the same time: of one client, and of all. */
const turns = { slotsOfOne: 2, slots: 3 };
const waiting = { service: 'dataprep', what: 'recordings', waitingOfOne: 1_000 };

/** A recording in the object store. */
export interface StoredMedia {
  file: FileReference;
  hasPictures: boolean;
  /** Removes the file, if it was stored for the transcription alone. */
  remove: () => Promise<void>;
}

export interface MediaLimits {
  /** Longer recordings are refused: the processor time of a transcription grows with the length. */
  maxSeconds: number;
  /** Wait for an asr service that is not there; default 20 s. */
  comeBackMs?: number;
}

export type MediaCall = CallOptions & { signal: AbortSignal };

/** Reads audio and video files: the asr service transcribes them. */
export class MediaReader {
  private readonly turns = new FairTurns({ ...waiting, ...turns });

  constructor(
    private readonly rpc: Pick<RpcClient, 'request' | 'stream'>,
    private readonly objects: Pick<ObjectStore, 'put' | 'delete'>,
    private readonly limits: MediaLimits,
  ) {}

  /** The id of the model that transcribes. Errors: unsupported_file without an asr service, cancelled. */
  async model(filename: string, call: MediaCall): Promise<string> {
    const { id } = await this.ask(filename, call, () => this.rpc.request(describeAsrModel, {}, call));
    return id;
  }

  /** Puts a recording where the asr service can read it. `reference`: where it is, if it is an object of its own. */
  async store(
    { bytes, filename, mimeType }: SourceFile,
    reference: FileReference | undefined,
  ): Promise<StoredMedia> {
    const pictures = hasPictures(bytes);
    if (reference) return { file: reference, hasPictures: pictures, remove: () => Promise.resolve() };
    const file = await this.objects.put(Readable.from([bytes]), { filename, mimeType });
    return { file, hasPictures: pictures, remove: () => this.objects.delete(file.objectId) };
  }

  /**
   * Transcribes a recording. `onPart` gets the seconds that are done. Errors: unsupported_file (a codec that cannot be
   * read, no speech, no asr service), payload_too_large, cancelled, deadline_exceeded.
   */
  async read(media: StoredMedia, call: MediaCall, onPart: OnPart = () => undefined): Promise<ParsedDocument> {
    try {
      return await this.turns.run(() => this.transcribe(media, call, onPart), { signal: call.signal });
    } finally {
      await media.remove().catch(() => undefined);
    }
  }

  private async transcribe(media: StoredMedia, call: MediaCall, onPart: OnPart): Promise<ParsedDocument> {
    const { file } = media;
    const { audio, segments } = await this.ask(file.filename, call, () =>
      this.collect(this.rpc.stream(transcribe, { file }, { ...call, priority: 'bulk' }), onPart),
    );
    const blocks = transcriptBlocks(segments);
    if (blocks.length === 0) throw unsupportedFile(file.filename, 'speech was not found in its sound');
    const message = 'the pictures of the video were not read, only its sound';
    return {
      blocks,
      facts: { seconds: Math.round(audio.seconds), language: audio.language, transcribedBy: audio.model },
      ...(media.hasPictures && { warnings: [{ code: 'picture_skipped', message }] }),
    };
  }

  private async collect(chunks: AsyncIterable<TranscriptChunk>, onPart: OnPart) {
    let audio: NonNullable<TranscriptChunk['audio']> | undefined;
    const segments: TranscriptSegment[] = [];
    for await (const chunk of chunks) {
      audio ??= chunk.audio;
      const total = Math.ceil(audio?.seconds ?? 0);
      if (total > this.limits.maxSeconds) throw tooLong(this.limits.maxSeconds);
      if (chunk.segment) segments.push(chunk.segment);
      onPart({ unit: 'second', completed: Math.min(Math.floor(chunk.done ?? 0), total), total });
    }
    if (audio) return { audio, segments };
    throw new MegaNestError('bad_upstream', { service: 'asr', detail: 'it did not describe the audio' });
  }

  /** Calls the asr service. Waits for one that restarts or is busy. Without one the file cannot be read. */
  private async ask<Result>(
    filename: string,
    { signal, deadline }: MediaCall,
    call: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await withPatience({ signal, deadline, comeBackMs: this.limits.comeBackMs }, call);
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.code !== 'service_unavailable') throw error;
      const detail = 'the asr service, which transcribes audio and video, is not available';
      throw unsupportedFile(filename, detail, error);
    }
  }
}

function tooLong(maxSeconds: number): MegaNestError {
  const limit = `${maxSeconds} seconds`;
  return new MegaNestError('payload_too_large', { what: 'The recording', limit, param: 'files' });
}
