import { Transcription, type TranscriptionRequest } from '#audio-api';
import { assertServedModel, describeAsrModel, transcribe, type TranscriptChunk } from '#contracts';
import { ObjectStore, RpcClient, type CallOptions } from '#messaging';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../models/model-catalog.js';

/** Speech to text by the asr service, over NATS; the audio lies in the object store until the call has ended. */
@Injectable()
export class RemoteTranscription extends Transcription {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
  ) {
    super();
  }

  override async assertModel(name: string, call: CallOptions & Pick<HttpCall, 'caller'>): Promise<void> {
    const model = await this.models.named(name, 'transcripts', call);
    if (model === undefined) return;
    const { id } = await this.client.request(describeAsrModel, {}, call);
    assertServedModel(model, id);
  }

  override async *transcribe(
    { audio, ...request }: TranscriptionRequest,
    call: CallOptions,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    const model = await this.models.named(request.model, 'transcripts', call);
    const { filename, mimeType } = audio;
    const file = await this.objects.put(audio.bytes, { filename, mimeType });
    try {
      yield* this.client.stream(transcribe, { ...request, model, file }, call);
    } finally {
      await this.objects.delete(file.objectId);
    }
  }
}
