import { FormData } from 'undici';
import { z } from 'zod';
import { MegaNestError, type ModelInfo, type TranscriptSegment } from '#platform/contracts';
import type { TranscribeRequest, Transcriber, TranscriptEvent } from '#engine/speech';
import { RemoteServer, type RemoteOptions } from './remote-server.js';

export interface RemoteTranscriberOptions extends RemoteOptions {
  /** Id of one of the engine's models; default: the first in its list. */
  readonly model?: string;
}

const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), created: z.int().optional() })),
});

const wordSchema = z.looseObject({ word: z.string(), start: z.number(), end: z.number() });
const transcriptSchema = z.looseObject({
  text: z.string(),
  language: z.string().nullish(),
  duration: z.coerce.number().nullish(),
  segments: z
    .array(
      z.looseObject({
        start: z.number(),
        end: z.number(),
        text: z.string(),
        tokens: z.array(z.int()).default([]),
        avg_logprob: z.number().default(0),
        temperature: z.number().default(0),
        no_speech_prob: z.number().optional(),
      }),
    )
    .nullish(),
  words: z.array(wordSchema).nullish(),
});
type RemoteTranscript = z.output<typeof transcriptSchema>;

/**
 * Transcribes on a server with OpenAI's audio API (vLLM, Speaches, LocalAI); the endpoint may end in `/v1`. Errors:
 * service_unavailable, bad_upstream, model_not_found if the server does not list the model.
 */
export async function openRemoteTranscriber(options: RemoteTranscriberOptions): Promise<Transcriber> {
  const endpoint = options.endpoint.replace(/\/+$/, '').replace(/\/v1$/, '');
  const server = new RemoteServer('asr', { ...options, endpoint });
  const { data } = await server.json({ path: '/v1/models' }, modelsSchema);
  const model = options.model === undefined ? data[0] : data.find(({ id }) => id === options.model);
  if (!model) {
    const available = data.map(({ id }) => id).join(', ') || 'none';
    throw new MegaNestError('model_not_found', { model: options.model, available });
  }
  const created = model.created ?? Math.floor(Date.now() / 1000);
  const info = { id: model.id, revision: 'remote', backend: 'openai', maxInputTokens: 0, created };
  return new OpenAiTranscriber(info, server);
}

class OpenAiTranscriber implements Transcriber {
  constructor(
    readonly info: ModelInfo,
    private readonly server: RemoteServer,
  ) {}

  async *transcribe(
    request: TranscribeRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<TranscriptEvent, void, void> {
    const path = request.task === 'translate' ? '/v1/audio/translations' : '/v1/audio/transcriptions';
    const body = this.#form(request);
    const transcript = await this.server.json({ path, body, signal }, transcriptSchema);
    const segments = segmentsOf(transcript);
    const seconds = transcript.duration ?? segments.at(-1)?.end ?? 0;
    const language = transcript.language ?? request.language ?? 'und';
    yield { kind: 'audio', seconds, language, ignored: [] };
    for (const segment of segments) yield { kind: 'segment', segment, done: segment.end };
  }

  async check(signal?: AbortSignal): Promise<void> {
    await this.server.json({ path: '/v1/models', signal }, modelsSchema);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #form({ audio, filename, language, prompt, temperature, task, details }: TranscribeRequest): FormData {
    const form = new FormData();
    form.set('file', new Blob([Uint8Array.from(audio)]), filename ?? 'audio');
    form.set('model', this.info.id);
    form.set('response_format', 'verbose_json');
    // A translation is always into English, so only a transcription has a language.
    if (language && task !== 'translate') form.set('language', language);
    if (prompt) form.set('prompt', prompt);
    if (temperature !== undefined) form.set('temperature', String(temperature));
    if (details && task !== 'translate')
      for (const granularity of ['segment', 'word']) form.append('timestamp_granularities[]', granularity);
    return form;
  }
}

/** Assigns each word to the segment in which it begins. Without segments the whole text is one. */
function segmentsOf({ text, segments, words, duration }: RemoteTranscript): TranscriptSegment[] {
  const parts = segments?.length
    ? segments
    : [{ start: 0, end: duration ?? 0, text, tokens: [], avg_logprob: 0, temperature: 0 }];
  return parts.flatMap((part, id) => {
    const trimmed = part.text.trim();
    if (!trimmed) return [];
    const { start, end, tokens, temperature, avg_logprob: avgLogprob, no_speech_prob: noSpeechProb } = part;
    const next = parts[id + 1]?.start ?? Infinity;
    const own = words?.filter((word) => word.start < next && (id === 0 || word.start >= start));
    return [
      {
        id,
        start,
        end,
        text: trimmed,
        tokens,
        avgLogprob,
        temperature,
        ...(noSpeechProb !== undefined && { noSpeechProb }),
        ...(own && {
          words: own.map((word) => ({ word: word.word.trim(), start: word.start, end: word.end })),
        }),
      },
    ];
  });
}
