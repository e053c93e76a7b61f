import { Transcription, type TranscriptionRequest } from '#audio-api';
import { transcribe, type TranscriptChunk } from '#contracts';
import { ObjectStore, RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Speech to text by the asr service, over NATS; the audio lies in the object store until the call has ended. */
@Injectable()
export class RemoteTranscription extends Transcription {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
  ) {
    super();
  }

  override async *transcribe(
    { audio, ...request }: TranscriptionRequest,
    call: CallOptions,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    const { filename, mimeType } = audio;
    const file = await this.objects.put(audio.bytes, { filename, mimeType });
    try {
      yield* this.client.stream(transcribe, { ...request, file }, call);
    } finally {
      await this.objects.delete(file.objectId);
    }
  }
}
