import { Transcription, type TranscriptionRequest } from '#audio-api';
import { assertServedModel, type TranscriptChunk } from '#contracts';
import { withinDeadline, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { AsrService } from './asr.service.js';

/** The HTTP API over the model in this process; a call ends when its client leaves or its time is up. */
@Injectable()
export class LocalTranscription extends Transcription {
  constructor(@Inject(AsrService) private readonly asr: AsrService) {
    super();
  }

  override assertModel(name: string): Promise<void> {
    assertServedModel(name, this.asr.model.id);
    return Promise.resolve();
  }

  override transcribe(
    request: TranscriptionRequest,
    call: HttpCall,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    return withinDeadline(call, (signal) => this.asr.transcribe(request, signal));
  }
}
