import type { TranscriptionRequest } from '#api/audio-api';
import { assertServedModel, type TranscriptChunk } from '#platform/contracts';
import { Metrics, ServedModel } from '#platform/service-kit';
import type { Transcriber } from '#engine/speech';
import { Inject, Injectable } from '@nestjs/common';

/** Transcribes speech, for requests over HTTP and NATS. */
@Injectable()
export class AsrService {
  constructor(
    @Inject(ServedModel) private readonly served: ServedModel<Transcriber>,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /**
   * Transcribes segment by segment. Leaving the loop or aborting the signal stops the work at the next segment. Errors:
   * model_not_found, unsupported_file, payload_too_large, unsupported_parameter, overloaded, cancelled.
   */
  async *transcribe(
    { audio, model, ...request }: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    assertServedModel(model, this.served.id);
    const operation = this.metrics.start('transcribe');
    try {
      const { bytes, filename } = audio;
      for await (const event of this.served.model.transcribe(
        { ...request, audio: bytes, filename },
        signal,
      )) {
        if (event.kind === 'audio') {
          const { seconds, language, ignored } = event;
          yield { audio: { model: this.served.id, seconds, language, ignored: [...ignored] } };
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
}
