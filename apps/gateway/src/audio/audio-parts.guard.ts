import {
  audioLimits,
  beginTranscript,
  decodeBase64,
  finishTranscript,
  Transcription,
  type AudioLimits,
} from '#audio-api';
import { MegaNestError, invalidField } from '#contracts';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { messageParts } from '../input-files/file-parts.guard.js';

const partSchema = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string().optional() }),
});

/**
 * The models behind chat completions read text, so that what is said in `input_audio` parts is written down first, by
 * the asr service. Lets every request pass; it is a guard since those come before the body's pipe, and since an
 * interceptor costs each chat without audio more than parsing its body does. Errors: invalid_request and those of
 * `asr.transcribe`, with the path of the part as `param`.
 */
@Injectable()
export class AudioPartsGuard implements CanActivate {
  constructor(
    @Inject(Transcription) private readonly transcription: Transcription,
    @Inject(audioLimits) private readonly limits: AudioLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    for (const { content, index, path } of messageParts(request.body, 'input_audio')) {
      content[index] = {
        type: 'text',
        text: await this.#textOf(content[index], path, request.meganestCall),
      };
    }
    return true;
  }

  async #textOf(part: unknown, path: string, call: HttpCall | undefined): Promise<string> {
    const parsed = partSchema.safeParse(part);
    const param = `${path}.input_audio.data`;
    if (!parsed.success || !call) throw invalidField(param, 'must be audio in base64');
    const audio = decodeBase64(parsed.data.input_audio.data, this.limits, param);
    try {
      const request = { audio, task: 'transcribe' as const, details: false };
      return (await finishTranscript(await beginTranscript(this.transcription.transcribe(request, call))))
        .text;
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.status >= 499) throw error;
      throw MegaNestError.fromBody({ ...error.toBody(), param });
    }
  }
}
