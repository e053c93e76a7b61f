import { Synthesis, type SpeechRequest } from '#audio-api';
import { synthesize, type SpeechChunk } from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { assertMayAsk, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';

/** Text to speech by the tts service, over NATS. */
@Injectable()
export class RemoteSynthesis extends Synthesis {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {
    super();
  }

  override synthesize(
    request: SpeechRequest,
    call: CallOptions & Pick<HttpCall, 'caller'>,
  ): AsyncIterable<SpeechChunk> {
    assertMayAsk(call, request.model);
    return this.client.stream(synthesize, request, call);
  }
}
