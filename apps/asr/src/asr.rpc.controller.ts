import { audioLimits, type AudioLimits } from '#api/audio-api';
import {
  MegaNestError,
  transcribe,
  type FileReference,
  type ParsedRequestOf,
  type TranscriptChunk,
} from '#platform/contracts';
import { ObjectStore, RpcHandler, type RpcContext } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { AsrService } from './asr.service.js';

@Controller()
export class AsrRpcController {
  constructor(
    @Inject(AsrService) private readonly asr: AsrService,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(audioLimits) private readonly limits: AudioLimits,
  ) {}

  /** The caller that put the audio into the object store removes it. */
  @RpcHandler(transcribe)
  async *transcribe(
    { file, ...request }: ParsedRequestOf<typeof transcribe>,
    { signal }: RpcContext,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    const { filename, mimeType } = file;
    const bytes = await this.#read(file, signal);
    yield* this.asr.transcribe({ ...request, audio: { bytes, filename, mimeType } }, signal);
  }

  async #read({ objectId, filename }: FileReference, signal: AbortSignal): Promise<Uint8Array> {
    const { maxBytes } = this.limits;
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.objects.get(objectId)) {
      if (signal.aborted) throw new MegaNestError('cancelled');
      size += piece.length;
      if (size > maxBytes)
        throw new MegaNestError('payload_too_large', {
          what: `The file ${filename}`,
          limit: `${maxBytes} bytes`,
          param: 'file',
        });
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}
