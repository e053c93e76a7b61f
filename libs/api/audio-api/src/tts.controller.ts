import { maxSpeechCharacters, MegaNestError } from '#platform/contracts';
import { ApiOperation, Call, SchemaPipe, setIgnored, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { beginSpeech, finishSpeech, Synthesis } from './speech.js';

const bodySchema = z.looseObject({
  text: z
    .string()
    .max(maxSpeechCharacters, `has more than ${maxSpeechCharacters} characters`)
    .refine((text) => text.trim() !== '', 'must contain a text to speak'),
  voice: z.string().min(1).max(64).nullish().describe('default, male, female, or a voice of the model'),
});

/** The answer of the reference's SpeechT5 server. */
const answerSchema = z.object({ tts_result: z.base64().describe('A WAV file') });

/** OPEA's text to speech. */
@Controller()
export class TtsController {
  constructor(@Inject(Synthesis) private readonly synthesis: Synthesis) {}

  @Post('v1/tts')
  @ApiOperation({ summary: 'Synthesize speech from a text (OPEA)', answer: answerSchema })
  @HttpCode(200)
  async speak(
    @Body(new SchemaPipe(bodySchema)) body: z.output<typeof bodySchema>,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<z.output<typeof answerSchema>> {
    const { text, voice, ...others } = body;
    const request = { input: text, voice: voice ?? undefined, format: 'wav' as const };
    const begun = await beginSpeech(this.synthesis.synthesize(request, call)).catch(namingText);
    setIgnored(reply, [...Object.keys(others), ...begun.voice.ignored]);
    return { tts_result: (await finishSpeech(begun)).toString('base64') };
  }
}

/** Names the field of this API in a refusal of the text. */
function namingText(error: unknown): never {
  if (!(error instanceof MegaNestError) || error.param !== 'input') throw error;
  throw MegaNestError.fromBody({ ...error.toBody(), param: 'text' });
}
