import {
  SpeechController,
  Synthesis,
  TtsController,
  VoicesController,
  type SpeechRequest,
} from '#api/audio-api';
import {
  describeTtsModel,
  isOtherModel,
  parseOrThrow,
  synthesize,
  type ParsedRequestOf,
  type SpeechChunk,
  type TtsInfo,
} from '#platform/contracts';
import { MessagingModule, RpcHandler, type RpcContext } from '#platform/messaging';
import { modelList, modelListSchema, modelObject } from '#api/openai-api';
import {
  ApiOperation,
  messagingOptions,
  ServiceKitModule,
  withinDeadline,
  type HttpCall,
  type ServiceIdentity,
} from '#platform/service-kit';
import { loadFlite, openRemoteSynthesizer, type SpeechSynthesizer } from '#engine/speech-synthesis';
import { Controller, Get, Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import { defaultVoiceToken, synthesizerToken, TtsService, type TtsEnvironment } from './tts.service.js';

@Controller()
export class TtsRpcController {
  constructor(@Inject(TtsService) private readonly tts: TtsService) {}

  @RpcHandler(synthesize)
  synthesize(
    request: ParsedRequestOf<typeof synthesize>,
    { signal }: RpcContext,
  ): AsyncGenerator<SpeechChunk, void, void> {
    return this.tts.synthesize(request, signal);
  }

  @RpcHandler(describeTtsModel)
  describe(): TtsInfo {
    return this.tts.model;
  }
}

@Controller()
export class ModelsController {
  constructor(@Inject(TtsService) private readonly tts: TtsService) {}

  @Get('v1/models')
  @ApiOperation({ summary: 'List the served model', answer: modelListSchema })
  models() {
    return modelList([modelObject(this.tts.model)]);
  }
}

/** The HTTP API of the model in this process. A call ends when its client disconnects or its deadline passes. */
@Injectable()
class LocalSynthesis extends Synthesis {
  constructor(@Inject(TtsService) private readonly tts: TtsService) {
    super();
  }

  override describe(): Promise<TtsInfo> {
    return Promise.resolve(this.tts.model);
  }

  /** OPEA's clients send the model of their own engine. The one model of this service speaks, and says so. */
  override async *synthesize(
    { model, ...request }: SpeechRequest,
    call: HttpCall,
  ): AsyncGenerator<SpeechChunk, void, void> {
    const unused = isOtherModel(model, this.tts.model.id) ? ['model'] : [];
    const parsed = parseOrThrow(synthesize.request, request);
    for await (const chunk of withinDeadline(call, (signal) => this.tts.synthesize(parsed, signal))) {
      const { voice } = chunk;
      yield voice ? { ...chunk, voice: { ...voice, ignored: [...voice.ignored, ...unused] } } : chunk;
    }
  }
}

export const identity: ServiceIdentity = {
  service: 'tts',
  title: 'opea_service@tts',
  description: 'Synthesizes speech from texts.',
};

/** The bundled voices, or the server that TTS_ENDPOINT names. */
function openSynthesizer(environment: TtsEnvironment): Promise<SpeechSynthesizer> {
  const { TTS_ENDPOINT: endpoint, TTS_API_KEY: apiKey, TTS_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteSynthesizer({ endpoint, apiKey, model });
  return loadFlite({ workers: environment.TTS_WORKERS });
}

@Module({})
export class TtsModule {
  static register(environment: TtsEnvironment): DynamicModule {
    return {
      module: TtsModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [SpeechController, TtsController, VoicesController, ModelsController, TtsRpcController],
      providers: [
        { provide: synthesizerToken, useFactory: () => openSynthesizer(environment) },
        { provide: defaultVoiceToken, useValue: environment.TTS_VOICE },
        TtsService,
        { provide: Synthesis, useClass: LocalSynthesis },
      ],
    };
  }
}
