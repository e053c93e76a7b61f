import { Synthesis, type SpeechRequest } from '#api/audio-api';
import { isOtherModel, parseOrThrow, synthesize, type SpeechChunk, type TtsInfo } from '#platform/contracts';
import { ServedModel, withinDeadline, type HttpCall } from '#platform/service-kit';
import type { SpeechSynthesizer } from '#engine/speech-synthesis';
import { Inject, Injectable } from '@nestjs/common';
import { TtsService } from './tts.service.js';

/** The HTTP API of the model in this process. A call ends when its client disconnects or its deadline passes. */
@Injectable()
export class LocalSynthesis extends Synthesis {
  constructor(
    @Inject(TtsService) private readonly tts: TtsService,
    @Inject(ServedModel) private readonly served: ServedModel<SpeechSynthesizer, TtsInfo>,
  ) {
    super();
  }

  override describe(): Promise<TtsInfo> {
    return Promise.resolve(this.served.info);
  }

  /** OPEA's clients send the model of their own engine. The one model of this service speaks, and says so. */
  override async *synthesize(
    { model, ...request }: SpeechRequest,
    call: HttpCall,
  ): AsyncGenerator<SpeechChunk, void, void> {
    const unused = isOtherModel(model, this.served.id) ? ['model'] : [];
    const parsed = parseOrThrow(synthesize.request, request);
    for await (const chunk of withinDeadline(call, (signal) => this.tts.synthesize(parsed, signal))) {
      const { voice } = chunk;
      yield voice ? { ...chunk, voice: { ...voice, ignored: [...voice.ignored, ...unused] } } : chunk;
    }
  }
}
