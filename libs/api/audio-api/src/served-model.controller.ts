import { modelList, modelListSchema, modelObject } from '#api/openai-api';
import { ApiOperation, ServedModel } from '#platform/service-kit';
import { Controller, Get, Inject } from '@nestjs/common';

/** `/v1/models` of a speech service: its one model. */
@Controller()
export class ServedModelController {
  constructor(@Inject(ServedModel) private readonly served: ServedModel) {}

  @Get('v1/models')
  @ApiOperation({ summary: 'List the served model', answer: modelListSchema })
  models() {
    return modelList([modelObject(this.served.info)]);
  }
}
