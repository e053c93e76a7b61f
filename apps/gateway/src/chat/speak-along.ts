import { beginSpeech, finishSpeech, type Synthesis } from '#api/audio-api';
import { AsyncQueue, eventsOf, pcmWav, splitSentences } from '#platform/foundation';
import {
  type GenerationChunk,
  invalidField,
  maxSpeechCharacters,
  MegaNestError,
  type SpeechFormat,
} from '#platform/contracts';
import type { ChatCompletionRequest, SpokenChunk } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

/** The gateway does not store spoken answers, so that the audio expires at once. */
const expiresAt = () => Math.floor(Date.now() / 1000);

/**
 * Speaks an answer sentence by sentence while the model writes it. The text is sent at once as the transcript. Pieces
 * of 16-bit samples at 24,000 Hz follow as they are synthesized. The last chunk of the answer is sent after the speech.
 * Errors: the errors of the chunks and of `tts.synthesize`.
 */
export async function* speakAlong(
  chunks: AsyncIterable<GenerationChunk>,
  wish: Pick<SpokenWish, 'voice' | 'voiceField'>,
  synthesis: Synthesis,
  call: HttpCall,
): AsyncGenerator<SpokenChunk, void, void> {
  const id = `audio_${randomUUID().replaceAll('-', '')}`;
  yield* eventsOf<SpokenChunk>(async (emit, left) => {
    const signal = AbortSignal.any([call.signal, left]);
    const sentences = new AsyncQueue<string>();
    const speaking = speak(sentences, wish, synthesis, { ...call, signal }, (bytes) =>
      emit({ choice: 0, text: '', audio: { id, data: bytes } }),
    );
    // The race below throws its failure.
    speaking.catch(() => undefined);
    const last: SpokenChunk[] = [];
    const reader = new SentenceReader();
    await Promise.race([
      speaking.then(() => undefined),
      (async () => {
        for await (const chunk of chunks) {
          if (chunk.finishReason || chunk.usage) last.push({ ...chunk, text: '' });
          else if (!chunk.text || chunk.refusal) emit(chunk);
          if (!chunk.text) continue;
          if (!chunk.refusal) emit({ ...withoutEnd(chunk), audio: { id, transcript: chunk.text } });
          for (const sentence of reader.push(chunk.text)) sentences.push(sentence);
        }
        sentences.push(reader.finish());
        sentences.end();
        await speaking;
      })(),
    ]);
    for (const chunk of last) emit({ ...chunk, audio: { id, expiresAt: expiresAt() } });
  }, call.signal);
}

/** The chunk without its finish reason and usage, which are sent after the speech. */
function withoutEnd({ choice, text, logprobs }: GenerationChunk): SpokenChunk {
  return { choice, text, ...(logprobs && { logprobs }) };
}

async function speak(
  sentences: AsyncIterable<string>,
  wish: Pick<SpokenWish, 'voice' | 'voiceField'>,
  synthesis: Synthesis,
  call: HttpCall,
  take: (bytes: Buffer) => void,
): Promise<void> {
  for await (const sentence of sentences) {
    for (
      let rest = spokenForm(sentence);
      /[\p{L}\p{N}]/u.test(rest);
      rest = rest.slice(maxSpeechCharacters)
    ) {
      const input = rest.slice(0, maxSpeechCharacters);
      const begun = await begin({ input, format: 'pcm' }, wish, synthesis, call);
      for await (const { bytes } of begun.pieces) if (bytes.length > 0) take(bytes);
    }
  }
}

/** Starts a piece of speech. An error of the voice names the field of the chat. */
async function begin(
  request: { input: string; format: SpeechFormat },
  { voice, voiceField = 'audio.voice' }: Pick<SpokenWish, 'voice' | 'voiceField'>,
  synthesis: Synthesis,
  call: HttpCall,
): ReturnType<typeof beginSpeech> {
  try {
    return await beginSpeech(synthesis.synthesize({ ...request, voice, speed: 1 }, call));
  } catch (error) {
    if (!(error instanceof MegaNestError) || error.param !== 'voice') throw error;
    throw MegaNestError.fromBody({ ...error.toBody(), param: voiceField });
  }
}

const encoded: Partial<Record<SpokenWish['format'], SpeechFormat>> = {
  mp3: 'mp3',
  flac: 'flac',
  opus: 'opus',
};

/**
 * Speaks an answer that is sent as a whole. WAV and PCM are synthesized while the model writes; the other formats are
 * made from the whole text. Errors: the errors of {@link speakAlong}; invalid_request if the text is too long for one
 * of the other formats.
 */
export async function* speakWhole(
  chunks: AsyncIterable<GenerationChunk>,
  wish: SpokenWish,
  synthesis: Synthesis,
  call: HttpCall,
): AsyncGenerator<SpokenChunk, void, void> {
  const format = encoded[wish.format];
  if (format === undefined) {
    yield* asOneFile(speakAlong(chunks, wish, synthesis, call), wish.format === 'wav');
    return;
  }
  const id = `audio_${randomUUID().replaceAll('-', '')}`;
  let text = '';
  for await (const chunk of chunks) {
    if (!chunk.refusal) text += chunk.text;
    yield chunk.refusal ? chunk : { ...chunk, audio: { id, transcript: chunk.text } };
  }
  const input = spokenForm(text);
  if (!/[\p{L}\p{N}]/u.test(input)) return;
  if (input.length > maxSpeechCharacters) {
    const reason = `an answer of ${input.length} characters is too long for ${wish.format}; use wav or pcm16`;
    throw invalidField('audio.format', reason);
  }
  const begun = await begin({ input, format }, wish, synthesis, call);
  yield { choice: 0, text: '', audio: { id, data: await finishSpeech(begun), expiresAt: expiresAt() } };
}

/** Samples per second of `pcm`. */
const sampleRate = 24_000;

async function* asOneFile(
  chunks: AsyncIterable<SpokenChunk>,
  isWav: boolean,
): AsyncGenerator<SpokenChunk, void, void> {
  const pieces: Buffer[] = [];
  let id = '';
  for await (const chunk of chunks) {
    id = chunk.audio?.id ?? id;
    if (chunk.audio?.data) pieces.push(chunk.audio.data);
    else yield chunk;
  }
  if (pieces.length === 0) return;
  const pcm = Buffer.concat(pieces);
  const data = isWav ? Buffer.from(pcmWav(new Int16Array(new Uint8Array(pcm).buffer), sampleRate)) : pcm;
  yield { choice: 0, text: '', audio: { id, data } };
}

const formats = ['wav', 'mp3', 'flac', 'opus', 'pcm16'] as const;

/** The voice and the format of a spoken answer. */
export interface SpokenWish {
  /** Absent: the default voice of the tts service. */
  readonly voice?: string;
  /** The field of the voice in the request, for errors; default `audio.voice`. */
  readonly voiceField?: string;
  readonly format: (typeof formats)[number];
}

const modalitiesSchema = z.array(z.enum(['text', 'audio'])).nullish();
const voiceSchema = z
  .union([z.string().min(1).max(64), z.looseObject({ id: z.string().min(1).max(64) })])
  .transform((voice) => (typeof voice === 'string' ? voice : voice.id));
const audioSchema = z.looseObject({ voice: voiceSchema, format: z.enum(formats) }).nullish();

/**
 * Takes OpenAI's `modalities` and `audio` out of a request. `wish` is absent if the answer is text only. Errors:
 * invalid_request with the field as `param`.
 */
export function takeSpokenWish(request: ChatCompletionRequest): {
  request: ChatCompletionRequest;
  wish?: SpokenWish;
} {
  const { modalities: given, audio: asked, ...extra } = request.extra;
  if (given === undefined && asked === undefined) return { request };
  const modalities = parse(modalitiesSchema, given, 'modalities') ?? ['text'];
  const audio = parse(audioSchema, asked, 'audio');
  const rest = { ...request, extra };
  if (!modalities.includes('audio')) {
    if (audio) throw invalidField('audio', 'requires "audio" in modalities');
    return { request: rest };
  }
  if (!modalities.includes('text'))
    throw invalidField('modalities', 'must contain "text" together with "audio"');
  if (!audio) throw invalidField('audio', 'is required for the modality "audio": send a voice and a format');
  if (request.stream && audio.format !== 'pcm16')
    throw invalidField('audio.format', 'must be "pcm16" for a streamed answer');
  if ((request.parameters.n ?? 1) > 1) throw invalidField('n', 'must be 1 for spoken answers');
  return { request: rest, wish: { voice: audio.voice, format: audio.format } };
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidField([name, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

/** Cuts a text that is still being written into sentences. */
export class SentenceReader {
  #open = '';

  /** Adds a piece of the text. Returns the sentences that are complete, because another sentence follows them. */
  push(piece: string): string[] {
    const sentences = splitSentences(this.#open + piece);
    this.#open = sentences.pop() ?? '';
    return sentences;
  }

  /** The rest of the text, after the last complete sentence. */
  finish(): string {
    const rest = this.#open;
    this.#open = '';
    return rest;
  }
}

/** A sentence without citation numbers and Markdown syntax, as a voice reads it. */
export function spokenForm(sentence: string): string {
  return sentence
    .replaceAll(/\s*\[\d+(?:,\s*\d+)*\]/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\s*(?:#{1,6}|>|[-*+]|\d+\.)\s+/gm, '')
    .replaceAll(/`{1,3}|\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)/g, '')
    .trim();
}
