import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiOperation, Call, sendEventStream, type HttpCall, setIgnored } from '#platform/service-kit';
import {
  audioLimits,
  parseAudioForm,
  readAudioForm,
  transcriptionFormSchema,
  type AudioLimits,
} from './audio-request.js';
import {
  beginTranscript,
  finishTranscript,
  Transcription,
  type TranscriptionRequest,
} from './transcription.js';
import {
  formatTranscript,
  transcriptErrorFrame,
  transcriptEventSchema,
  transcriptFrames,
  transcriptionSchema,
  verboseTranscriptionSchema,
} from './transcript-formats.js';

const formSchema = transcriptionFormSchema.extend({
  file: z.string().describe('The audio file').meta({ format: 'binary' }),
});
const operation = {
  answer: z.union([transcriptionSchema, verboseTranscriptionSchema]),
  events: transcriptEventSchema,
  body: formSchema,
  consumes: ['multipart/form-data'],
};
const mediaTypes = { text: 'text/plain', srt: 'application/x-subrip', vtt: 'text/vtt' } as const;

/** OpenAI's audio API: speech to text. */
@Controller()
export class AudioController {
  constructor(
    @Inject(Transcription) private readonly transcription: Transcription,
    @Inject(audioLimits) private readonly limits: AudioLimits,
  ) {}

  @Post('v1/audio/transcriptions')
  @ApiOperation({ summary: 'Transcribe an audio file', ...operation })
  transcribe(@Req() http: FastifyRequest, @Res() reply: FastifyReply, @Call() call: HttpCall): Promise<void> {
    return this.#answer('transcribe', http, reply, call);
  }

  @Post('v1/audio/translations')
  @ApiOperation({ summary: 'Translate an audio file into English text', ...operation })
  translate(@Req() http: FastifyRequest, @Res() reply: FastifyReply, @Call() call: HttpCall): Promise<void> {
    return this.#answer('translate', http, reply, call);
  }

  async #answer(
    task: TranscriptionRequest['task'],
    http: FastifyRequest,
    reply: FastifyReply,
    call: HttpCall,
  ): Promise<void> {
    const request = parseAudioForm(await readAudioForm(http, this.limits.maxBytes), task);
    const begun = await beginTranscript(this.transcription.transcribe(request.transcription, call));
    setIgnored(reply, [...request.ignored, ...begun.audio.ignored]);
    if (request.stream)
      return sendEventStream(reply, transcriptFrames(begun, request.logprobs), transcriptErrorFrame);
    const answer = formatTranscript(await finishTranscript(begun), { ...request, task });
    if (typeof answer === 'string')
      void reply.type(`${mediaTypes[request.format as keyof typeof mediaTypes]}; charset=utf-8`);
    await reply.status(200).send(answer);
  }
}
