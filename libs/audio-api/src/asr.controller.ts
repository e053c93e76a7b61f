import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiOperation, Call, type HttpCall, setIgnored } from '#service-kit';
import { asrBodySchema, readAsrRequest } from './asr-request.js';
import { audioLimits, type AudioLimits } from './audio-limits.js';
import { beginTranscript, finishTranscript, Transcription } from './transcription.js';

const answerSchema = z.object({
  text: z.string(),
  asr_result: z.string().optional().describe('The same text, where the audio came in base64'),
});

/** OPEA's speech to text. */
@Controller()
export class AsrController {
  constructor(
    @Inject(Transcription) private readonly transcription: Transcription,
    @Inject(audioLimits) private readonly limits: AudioLimits,
  ) {}

  /** Takes audio by URL, in base64, or as a form. A name of another model is reported as ignored. */
  @Post('v1/asr')
  @ApiOperation({
    summary: 'Write down what is said in an audio file: OPEA',
    answer: answerSchema,
    body: asrBodySchema,
    consumes: ['application/json', 'multipart/form-data'],
  })
  async transcribe(
    @Req() http: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    const { audio, language, model, form, ignored } = await readAsrRequest(http, this.limits, call.signal);
    const request = { audio, language, task: 'transcribe' as const, details: false };
    const begun = await beginTranscript(this.transcription.transcribe(request, call));
    const otherModel = model !== undefined && model !== begun.audio.model ? ['model_name_or_path'] : [];
    setIgnored(reply, [...ignored, ...otherModel, ...begun.audio.ignored]);
    const { text } = await finishTranscript(begun);
    await reply.status(200).send({ text, ...(form === 'base64' && { asr_result: text }) });
  }
}
