import { assertServedModel, type ModelInfo, type TranscriptChunk } from '#contracts';
import type { TranscriptionRequest } from '#audio-api';
import { HealthRegistry, Metrics } from '#service-kit';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Transcriber } from '#speech';
import { transcriberToken } from './open-transcriber.js';

/** Writes speech down; both the HTTP and the NATS side go through it. */
@Injectable()
export class AsrService implements OnApplicationShutdown {
  constructor(
    @Inject(transcriberToken) private readonly transcriber: Transcriber,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('model', async (signal) => {
      await this.transcriber.check(signal);
      return this.transcriber.info.id;
    });
  }

  get model(): ModelInfo {
    return this.transcriber.info;
  }

  /**
   * Segment by segment. Leaving the loop or aborting the signal ends the work at the next one. Errors: model_not_found,
   * unsupported_file, payload_too_large, unsupported_parameter, overloaded, cancelled.
   */
  async *transcribe(
    { audio, model, ...request }: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    assertServedModel(model, this.model.id);
    const operation = this.metrics.start('transcribe');
    try {
      const { bytes, filename } = audio;
      for await (const event of this.transcriber.transcribe({ ...request, audio: bytes, filename }, signal)) {
        if (event.kind === 'audio') {
          const { seconds, language, ignored } = event;
          yield { audio: { model: this.model.id, seconds, language, ignored: [...ignored] } };
        } else {
          operation.firstToken();
          yield { segment: event.segment, done: event.done };
        }
      }
      operation.end('ok');
    } finally {
      operation.end(signal.aborted ? 'cancelled' : 'error');
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transcriber.close();
  }
}
