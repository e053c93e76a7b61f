import { Synthesis, type SpeechRequest } from '#audio-api';
import { parseOrThrow, synthesize, type SpeechChunk } from '#contracts';
import { withinDeadline, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { TtsService } from './tts.service.js';

/** The HTTP API over the model in this process; a call ends when its client leaves or its time is up. */
@Injectable()
export class LocalSynthesis extends Synthesis {
  constructor(@Inject(TtsService) private readonly tts: TtsService) {
    super();
  }

  override synthesize(request: SpeechRequest, call: HttpCall): AsyncGenerator<SpeechChunk, void, void> {
    const parsed = parseOrThrow(synthesize.request, request);
    return withinDeadline(call, (signal) => this.tts.synthesize(parsed, signal));
  }
}
