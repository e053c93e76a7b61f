import { Transcription, type TranscriptionRequest } from '#api/audio-api';
import { assertServedModel, isOtherModel, type TranscriptChunk } from '#platform/contracts';
import { ServedModel, withinDeadline, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { AsrService } from './asr.service.js';

/** The HTTP API of the model in this process. A call ends when its client disconnects or its deadline passes. */
@Injectable()
export class LocalTranscription extends Transcription {
  constructor(
    @Inject(AsrService) private readonly asr: AsrService,
    @Inject(ServedModel) private readonly served: ServedModel,
  ) {
    super();
  }

  override assertModel(name: string): Promise<void> {
    assertServedModel(name, this.served.id);
    return Promise.resolve();
  }

  /** OPEA's clients send the model of their own engine. The one model of this service answers, and says so. */
  override async *transcribe(
    { model, ...request }: TranscriptionRequest,
    call: HttpCall,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    const unused = isOtherModel(model, this.served.id) ? ['model'] : [];
    for await (const chunk of withinDeadline(call, (signal) => this.asr.transcribe(request, signal))) {
      const { audio } = chunk;
      yield audio ? { ...chunk, audio: { ...audio, ignored: [...audio.ignored, ...unused] } } : chunk;
    }
  }
}
