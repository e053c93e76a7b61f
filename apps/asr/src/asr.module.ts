import {
  AsrController,
  AudioController,
  audioLimits,
  audioLimitsOf,
  Transcription,
  type AudioLimits,
  type TranscriptionRequest,
} from '#api/audio-api';
import {
  assertServedModel,
  describeAsrModel,
  isOtherModel,
  MegaNestError,
  transcribe,
  type FileReference,
  type ModelInfo,
  type ParsedRequestOf,
  type TranscriptChunk,
} from '#platform/contracts';
import { MessagingModule, ObjectStore, RpcHandler, type RpcContext } from '#platform/messaging';
import { modelList, modelListSchema, modelObject } from '#api/openai-api';
import {
  ApiOperation,
  loadProfile,
  messagingOptions,
  ServiceKitModule,
  withinDeadline,
  type HttpCall,
  type ServiceIdentity,
} from '#platform/service-kit';
import { Controller, Get, Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import { type AsrEnvironment, AsrService, openTranscriber, transcriberToken } from './asr.service.js';

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

  @RpcHandler(describeAsrModel)
  describe(): ModelInfo {
    return this.asr.model;
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

@Controller()
export class ModelsController {
  constructor(@Inject(AsrService) private readonly asr: AsrService) {}

  @Get('v1/models')
  @ApiOperation({ summary: 'List the served model', answer: modelListSchema })
  models() {
    return modelList([modelObject(this.asr.model)]);
  }
}

/** The HTTP API of the model in this process. A call ends when its client disconnects or its deadline passes. */
@Injectable()
class LocalTranscription extends Transcription {
  constructor(@Inject(AsrService) private readonly asr: AsrService) {
    super();
  }

  override assertModel(name: string): Promise<void> {
    assertServedModel(name, this.asr.model.id);
    return Promise.resolve();
  }

  /** OPEA's clients send the model of their own engine. The one model of this service answers, and says so. */
  override async *transcribe(
    { model, ...request }: TranscriptionRequest,
    call: HttpCall,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    const unused = isOtherModel(model, this.asr.model.id) ? ['model'] : [];
    for await (const chunk of withinDeadline(call, (signal) => this.asr.transcribe(request, signal))) {
      const { audio } = chunk;
      yield audio ? { ...chunk, audio: { ...audio, ignored: [...audio.ignored, ...unused] } } : chunk;
    }
  }
}

export const identity: ServiceIdentity = {
  service: 'asr',
  title: 'opea_service@asr',
  description: 'Transcribes audio files.',
  wrongMethodTexts: { '/v1/asr': 'The request of ASR fails.' },
};

@Module({})
export class AsrModule {
  static register(environment: AsrEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: AsrModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [AsrController, AudioController, ModelsController, AsrRpcController],
      providers: [
        { provide: transcriberToken, useFactory: () => openTranscriber(environment, profile) },
        { provide: audioLimits, useValue: audioLimitsOf(environment) },
        AsrService,
        { provide: Transcription, useClass: LocalTranscription },
      ],
    };
  }
}
