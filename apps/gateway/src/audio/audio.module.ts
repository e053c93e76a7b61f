import {
  AsrController,
  AudioController,
  SpeechController,
  TtsController,
  VoicesController,
  type SpeechRequest,
  Synthesis,
  Transcription,
  type TranscriptionRequest,
} from '#api/audio-api';
import {
  assertServedModel,
  describeAsrModel,
  describeTtsModel,
  type SpeechChunk,
  synthesize,
  transcribe,
  type TranscriptChunk,
  type TtsInfo,
} from '#platform/contracts';
import { type CallOptions, ObjectStore, RpcClient } from '#platform/messaging';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable, Module } from '@nestjs/common';
import { ModelCatalog, ModelsModule } from '../models/model-catalog.js';

/** Transcription by the asr service over NATS. The audio stays in the object store until the call ends. */
@Injectable()
class RemoteTranscription extends Transcription {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
  ) {
    super();
  }

  override async assertModel(name: string, call: CallOptions & Pick<HttpCall, 'caller'>): Promise<void> {
    const { model } = await this.models.resolve(name, 'transcripts', call);
    if (model === undefined) return;
    const { id } = await this.client.request(describeAsrModel, {}, call);
    assertServedModel(model, id);
  }

  override async *transcribe(
    { audio, ...request }: TranscriptionRequest,
    call: CallOptions,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    const { model } = await this.models.resolve(request.model, 'transcripts', call);
    const { filename, mimeType } = audio;
    const file = await this.objects.put(audio.bytes, { filename, mimeType });
    try {
      yield* this.client.stream(transcribe, { ...request, model, file }, call);
    } finally {
      await this.objects.delete(file.objectId);
    }
  }
}

/** Speech synthesis by the tts service over NATS. */
@Injectable()
class RemoteSynthesis extends Synthesis {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
  ) {
    super();
  }

  override describe(call: CallOptions): Promise<TtsInfo> {
    return this.client.request(describeTtsModel, {}, call);
  }

  override async *synthesize(
    request: SpeechRequest,
    call: CallOptions & Pick<HttpCall, 'caller'>,
  ): AsyncGenerator<SpeechChunk, void, void> {
    const { model } = await this.models.resolve(request.model, 'speech', call);
    yield* this.client.stream(synthesize, { ...request, model }, call);
  }
}

/** Transcription and speech synthesis by the services over NATS. */
@Module({
  imports: [ModelsModule],
  controllers: [AudioController, SpeechController, AsrController, TtsController, VoicesController],
  providers: [
    { provide: Transcription, useClass: RemoteTranscription },
    { provide: Synthesis, useClass: RemoteSynthesis },
  ],
  exports: [Transcription, Synthesis],
})
export class AudioModule {}
