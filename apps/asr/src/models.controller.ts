import { modelList, modelListSchema, modelObject } from '#openai-api';
import { ApiOperation } from '#service-kit';
import { Controller, Get, Inject } from '@nestjs/common';
import { AsrService } from './asr.service.js';

@Controller()
export class ModelsController {
  constructor(@Inject(AsrService) private readonly asr: AsrService) {}

  @Get('v1/models')
  @ApiOperation({ summary: 'The model that is served', answer: modelListSchema })
  models() {
    return modelList([modelObject(this.asr.model)]);
  }
}
