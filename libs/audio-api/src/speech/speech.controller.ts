import { Readable } from 'node:stream';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { SpeechFormat } from '#contracts';
import { ApiOperation, Call, SchemaPipe, sendEventStream, type HttpCall, setIgnored } from '#service-kit';
import {
  speechErrorFrame,
  speechEventSchema,
  speechFrames,
  speechBodySchema,
  unknownFields,
  type SpeechBody,
  beginSpeech,
  Synthesis,
  type BegunSpeech,
} from './synthesis.js';

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
    summary: 'Speak a text',
    answer: 'audio/mpeg',
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
