import { Synthesis, type SpeechRequest } from '#audio-api';
import { synthesize, type SpeechChunk } from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Text to speech by the tts service, over NATS. */
@Injectable()
export class RemoteSynthesis extends Synthesis {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {
    super();
  }

  override synthesize(request: SpeechRequest, call: CallOptions): AsyncIterable<SpeechChunk> {
    return this.client.stream(synthesize, request, call);
  }
}
