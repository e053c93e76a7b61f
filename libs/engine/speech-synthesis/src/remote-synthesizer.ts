import { z } from 'zod';
import type { ModelInfo } from '#platform/contracts';
import { RemoteServer, type RemoteOptions } from '#engine/remote-engines';
import { speechSampleRate } from './encode-speech.js';
import type { SpeechSynthesizer, SynthesisEvent, SynthesisRequest } from './speech-synthesizer.js';

export interface RemoteSynthesizerOptions extends RemoteOptions {
  /** Id of one of the engine's models; default: the first in its list. */
  readonly model?: string;
  /** Voice for requests without a voice. Default `alloy`. */
  readonly voice?: string;
}

const modelsSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })).min(1) });

/** Connects to a server with OpenAI's `/v1/audio/speech`. Errors: service_unavailable, bad_upstream. */
export async function openRemoteSynthesizer(options: RemoteSynthesizerOptions): Promise<SpeechSynthesizer> {
  const endpoint = options.endpoint.replace(/\/+$/, '').replace(/\/v1$/, '');
  const server = new RemoteServer('tts', { ...options, endpoint });
  const id = options.model ?? (await server.json({ path: '/v1/models' }, modelsSchema)).data[0]!.id;
  const info = { id, revision: 'remote', backend: 'remote', maxInputTokens: 0, created: 0 };
  return new RemoteSynthesizer(info, server, options.voice ?? 'alloy');
}

class RemoteSynthesizer implements SpeechSynthesizer {
  readonly voices: readonly string[] = [];

  constructor(
    readonly info: ModelInfo,
    private readonly server: RemoteServer,
    private readonly defaultVoice: string,
  ) {}

  async *synthesize(
    { text, voice = this.defaultVoice, format, speed, instructions }: SynthesisRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<SynthesisEvent, void, void> {
    const body = { model: this.info.id, input: text, voice, response_format: format, speed, instructions };
    const response = await this.server.send({ path: '/v1/audio/speech', body, signal });
    yield { kind: 'voice', voice, sampleRate: speechSampleRate, ignored: [] };
    if (!response.body) throw this.server.unexpected('an answer without audio');
    try {
      for await (const bytes of response.body)
        yield { kind: 'audio', bytes: bytes as Uint8Array, seconds: 0 };
    } catch (error) {
      throw this.server.networkError(error, signal);
    }
  }

  async check(signal?: AbortSignal): Promise<void> {
    await this.server.json({ path: '/v1/models', signal }, modelsSchema);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
