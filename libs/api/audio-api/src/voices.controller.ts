import { ApiOperation, Call, type HttpCall } from '#platform/service-kit';
import { Controller, Get, Inject } from '@nestjs/common';
import { z } from 'zod';
import { Synthesis } from './speech.js';

const named = z.object({ id: z.string(), name: z.string() });
const voicesSchema = z.object({ voices: z.array(named) });
const modelsSchema = z.object({ models: z.array(named) });

/** The voices and the model of text to speech, as Kokoro's and other servers list them; Open WebUI asks for both. */
@Controller()
export class VoicesController {
  constructor(@Inject(Synthesis) private readonly synthesis: Synthesis) {}

  @Get('v1/audio/voices')
  @ApiOperation({ summary: 'List the voices of text to speech', answer: voicesSchema })
  async voices(@Call() call: HttpCall): Promise<z.output<typeof voicesSchema>> {
    const { voices } = await this.synthesis.describe(call);
    return { voices: voices.map((voice) => ({ id: voice, name: voice })) };
  }

  @Get('v1/audio/models')
  @ApiOperation({ summary: 'List the model of text to speech', answer: modelsSchema })
  async models(@Call() call: HttpCall): Promise<z.output<typeof modelsSchema>> {
    const { id } = await this.synthesis.describe(call);
    return { models: [{ id, name: id }] };
  }
}
