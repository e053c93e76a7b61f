import { listParameters } from '#dag';
import { ApiOperation } from '#service-kit';
import { All, Controller, Inject, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { parameterListAnswer, serviceListAnswer, wrongMethodAnswer } from './opea-answers.js';
import { describeParameters, describeParametersVerbosely } from './parameter-list.js';
import { describeServices, describeServicesVerbosely } from './service-list.js';

/** The two listings of the OPEA specification, with its own texts for a wrong method. */
@Controller()
export class ListController {
  constructor(@Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog) {}

  @All('v1/list_service')
  @ApiOperation({
    summary: 'The mega services, each with a request to paste',
    answer: serviceListAnswer,
    also: { 405: wrongMethodAnswer },
  })
  async services(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query('verbose') verbose?: string,
  ): Promise<void> {
    if (request.method !== 'GET') return sendWrongMethod(reply, 'Retrieve service name wrongly.');
    const definitions = this.megaServices.list();
    const describe = verbose === 'true' ? describeServicesVerbosely : describeServices;
    await reply.send(describe(definitions, `${request.protocol}://${request.host}`));
  }

  @All('v1/list_parameters')
  @ApiOperation({
    summary: 'The parameters that a request may set',
    answer: parameterListAnswer,
    also: { 405: wrongMethodAnswer },
  })
  async parameters(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query('verbose') verbose?: string,
  ): Promise<void> {
    if (request.method !== 'GET') return sendWrongMethod(reply, 'Retrieve configurable parameter wrongly.');
    const listed = this.megaServices
      .list()
      .map((definition) => ({ definition, parameters: listParameters(definition) }));
    await reply.send(verbose === 'true' ? describeParametersVerbosely(listed) : describeParameters(listed));
  }
}

async function sendWrongMethod(reply: FastifyReply, error: string): Promise<void> {
  await reply.status(405).header('allow', 'GET').send({ error });
}
