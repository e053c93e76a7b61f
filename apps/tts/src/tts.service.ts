import {
  assertServedModel,
  MegaNestError,
  type ParsedRequestOf,
  type SpeechChunk,
  type synthesize,
} from '#platform/contracts';
import { Metrics, ServedModel } from '#platform/service-kit';
import type { SpeechSynthesizer } from '#engine/speech-synthesis';
import { Inject, Injectable } from '@nestjs/common';

/** Injection token of the voice for requests without one. */
export const defaultVoiceToken = Symbol('defaultVoice');

/** Synthesizes speech, for requests over HTTP and NATS. */
@Injectable()
export class TtsService {
  constructor(
    @Inject(ServedModel) private readonly served: ServedModel<SpeechSynthesizer>,
    @Inject(defaultVoiceToken) private readonly defaultVoice: string | undefined,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /**
   * Speaks sentence by sentence. Leaving the loop or aborting the signal stops the work at the next sentence. Errors:
   * model_not_found, invalid_request, overloaded, cancelled.
   */
  async *synthesize(
    { input, model, voice = this.defaultVoice, ...rest }: ParsedRequestOf<typeof synthesize>,
    signal: AbortSignal,
  ): AsyncGenerator<SpeechChunk, void, void> {
    assertServedModel(model, this.served.id);
    const operation = this.metrics.start('synthesize');
    try {
      for await (const event of this.served.model.synthesize({ ...rest, text: input, voice }, signal)) {
        if (event.kind === 'voice') {
          const { voice: name, sampleRate, ignored } = event;
          yield { voice: { model: this.served.id, voice: name, sampleRate, ignored: [...ignored] } };
        } else {
          operation.firstToken();
          yield { audio: Buffer.from(event.bytes).toString('base64'), seconds: event.seconds };
        }
      }
      operation.end('ok');
    } catch (error) {
      operation.end(error instanceof MegaNestError && error.code === 'cancelled' ? 'cancelled' : 'error');
      throw error;
    } finally {
      operation.end('cancelled');
    }
  }
}
