import { Readable } from 'node:stream';
import {
  type SpeechFormat,
  maxSpeechCharacters,
  speechFormats,
  speechParametersSchema,
  type RequestOf,
  type SpeechChunk,
  type synthesize,
  type MegaNestError,
  type TtsInfo,
} from '#platform/contracts';
import {
  ApiOperation,
  Call,
  SchemaPipe,
  sendEventStream,
  type HttpCall,
  setIgnored,
  errorEnvelope,
} from '#platform/service-kit';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';

/** The body of OpenAI's `POST /v1/audio/speech`. */
const speechBodySchema = speechParametersSchema
  .extend({
    model: z.string().optional(),
    input: z
      .string()
      .min(1, 'must contain a text to speak')
      .max(maxSpeechCharacters, `has more than ${maxSpeechCharacters} characters`)
      .refine((text) => text.trim() !== '', 'must contain a text to speak'),
    voice: z
      .union([z.string().max(64), z.looseObject({ id: z.string().max(64) })])
      .transform((voice) => (typeof voice === 'string' ? voice : voice.id) || undefined)
      .optional()
      .describe("A voice of the model, or one of OpenAI's names"),
    response_format: z.enum(speechFormats).default('mp3'),
    stream_format: z.enum(['audio', 'sse']).default('audio'),
  })
  .loose();
/** A parsed body. */
type SpeechBody = z.output<typeof speechBodySchema>;

/** Returns the fields of a body without effect. */
function unknownFields(body: object): string[] {
  return Object.keys(body).filter((name) => !(name in speechBodySchema.shape));
}

/** A request to synthesize speech. */
export type SpeechRequest = RequestOf<typeof synthesize>;

/** Text to speech: by the model in this process, or by the tts service over NATS. Both serve the same HTTP API. */
export abstract class Synthesis {
  /**
   * The first chunk describes the voice, each further chunk has audio. Errors: the errors of the method
   * `tts.synthesize`.
   */
  abstract synthesize(request: SpeechRequest, call: HttpCall): AsyncIterable<SpeechChunk>;

  /** Describes the model and its voices. Errors: service_unavailable. */
  abstract describe(call: HttpCall): Promise<TtsInfo>;
}

/** Speech after its first chunk: the voice is known, and the audio follows. */
interface BegunSpeech {
  voice: NonNullable<SpeechChunk['voice']>;
  /** Encoded audio and its length in seconds. */
  pieces: AsyncGenerator<{ bytes: Buffer; seconds: number }, void, void>;
}

/** Waits for the first chunk, so that an error before it has its own HTTP status. */
export async function beginSpeech(chunks: AsyncIterable<SpeechChunk>): Promise<BegunSpeech> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done || !first.value.voice) throw new Error('Speech began without its voice.');
  return { voice: first.value.voice, pieces: piecesOf(iterator) };
}

async function* piecesOf(iterator: AsyncIterator<SpeechChunk>): BegunSpeech['pieces'] {
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      const { audio, seconds = 0 } = next.value;
      if (audio !== undefined) yield { bytes: Buffer.from(audio, 'base64'), seconds };
    }
  } finally {
    await iterator.return?.();
  }
}

/** Reads the whole audio. */
export async function finishSpeech({ pieces }: BegunSpeech): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const { bytes } of pieces) all.push(bytes);
  return Buffer.concat(all);
}

/** OpenAI's speech events. Usage counts characters where OpenAI's counts tokens. */
const speechEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('speech.audio.delta'), audio: z.base64() }),
  z.object({
    type: z.literal('speech.audio.done'),
    usage: z.object({
      input_tokens: z.int().describe('Characters of the input'),
      output_tokens: z.int().describe('Seconds of speech, rounded up'),
      total_tokens: z.int(),
    }),
  }),
]);

/** Yields an event for each chunk of audio, and one at the end. */
async function* speechFrames({ pieces }: BegunSpeech, input: string): AsyncGenerator<string> {
  let length = 0;
  for await (const { bytes, seconds } of pieces) {
    length += seconds;
    if (bytes.length > 0) yield frame({ type: 'speech.audio.delta', audio: bytes.toString('base64') });
  }
  const usage = { input_tokens: input.length, output_tokens: Math.ceil(length) };
  yield frame({
    type: 'speech.audio.done',
    usage: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
  });
}

/** Formats an error after the first event. */
function speechErrorFrame(error: MegaNestError): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', ...errorEnvelope(error) })}\n\n`;
}

function frame(event: z.input<typeof speechEventSchema>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const mediaTypes: Record<SpeechFormat, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg; codecs=opus',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};

/** OpenAI's audio API: text to speech. */
@Controller()
export class SpeechController {
  constructor(@Inject(Synthesis) private readonly synthesis: Synthesis) {}

  /** Streams the audio sentence by sentence; an error after the first byte closes the connection. */
  @Post('v1/audio/speech')
  @ApiOperation({
    summary: 'Synthesize speech from a text',
    answer: Object.values(mediaTypes),
    events: speechEventSchema,
  })
  async speak(
    @Body(new SchemaPipe(speechBodySchema)) body: SpeechBody,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    const { input, model, voice, speed, instructions, response_format: format } = body;
    const chunks = this.synthesis.synthesize({ input, model, voice, speed, instructions, format }, call);
    const begun = await beginSpeech(chunks);
    setIgnored(reply, [...unknownFields(body), ...begun.voice.ignored]);
    if (body.stream_format === 'sse')
      return sendEventStream(reply, speechFrames(begun, input), speechErrorFrame);
    await reply
      .status(200)
      .type(mediaTypes[format])
      .send(Readable.from(bytesOf(begun), { objectMode: false }));
  }
}

async function* bytesOf({ pieces }: BegunSpeech): AsyncGenerator<Buffer> {
  for await (const { bytes } of pieces) if (bytes.length > 0) yield bytes;
}
