import { modelList, modelListSchema, modelObject } from '#openai-api';
import { ApiOperation } from '#service-kit';
import { Controller, Get, Inject } from '@nestjs/common';
import { TtsService } from './tts.service.js';

@Controller()
export class ModelsController {
  constructor(@Inject(TtsService) private readonly tts: TtsService) {}

  @Get('v1/models')
  @ApiOperation({ summary: 'The model that is served', answer: modelListSchema })
  models() {
    return modelList([modelObject(this.tts.model)]);
  }
}
