import {
  assertServedModel,
  MegaNestError,
  type ParsedRequestOf,
  type SpeechChunk,
  type synthesize,
  type TtsInfo,
} from '#platform/contracts';
import { baseEnvironmentSchema, count, HealthRegistry, Metrics, portSchema } from '#platform/service-kit';
import type { SpeechSynthesizer } from '#engine/speech-synthesis';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { z } from 'zod';

/** Injection token of the synthesizer. */
export const synthesizerToken = Symbol('synthesizer');

/** Injection token of the voice for requests without one. */
export const defaultVoiceToken = Symbol('defaultVoice');

/** Synthesizes speech, for requests over HTTP and NATS. */
@Injectable()
export class TtsService implements OnApplicationShutdown {
  constructor(
    @Inject(synthesizerToken) private readonly synthesizer: SpeechSynthesizer,
    @Inject(defaultVoiceToken) private readonly defaultVoice: string | undefined,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('model', async (signal) => {
      await this.synthesizer.check(signal);
      return this.synthesizer.info.id;
    });
  }

  get model(): TtsInfo {
    return { ...this.synthesizer.info, voices: [...this.synthesizer.voices] };
  }

  /**
   * Speaks sentence by sentence. Leaving the loop or aborting the signal stops the work at the next sentence. Errors:
   * model_not_found, invalid_request, overloaded, cancelled.
   */
  async *synthesize(
    { input, model, voice = this.defaultVoice, ...rest }: ParsedRequestOf<typeof synthesize>,
    signal: AbortSignal,
  ): AsyncGenerator<SpeechChunk, void, void> {
    assertServedModel(model, this.model.id);
    const operation = this.metrics.start('synthesize');
    try {
      for await (const event of this.synthesizer.synthesize({ ...rest, text: input, voice }, signal)) {
        if (event.kind === 'voice') {
          const { voice: name, sampleRate, ignored } = event;
          yield { voice: { model: this.model.id, voice: name, sampleRate, ignored: [...ignored] } };
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

  async onApplicationShutdown(): Promise<void> {
    await this.synthesizer.close();
  }
}

export const ttsEnvironmentSchema = baseEnvironmentSchema.extend({
  TTS_PORT: portSchema.default(9088),
  /** A server with OpenAI's `/v1/audio/speech`, to use in place of the bundled voices. */
  TTS_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TTS_API_KEY: z.string().optional(),
  /** A model of that server; default: the first one in its list. */
  TTS_MODEL_ID: z.string().optional(),
  /** The voice for requests without one. */
  TTS_VOICE: z.string().optional(),
  /** Number of threads for the synthesis. */
  TTS_WORKERS: count(1, 64).default(1),
});
export type TtsEnvironment = z.infer<typeof ttsEnvironmentSchema>;
