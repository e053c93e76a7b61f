import { engineKindSchema, engineSpecSchema, engineStatusSchema, type EngineSpec } from '#platform/contracts';
import { ApiOperation, Call, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import { EngineDirectory } from './engine-directory.js';

const engineObject = engineStatusSchema.extend({ object: z.literal('engine') });
const listAnswer = z.object({
  object: z.literal('list'),
  data: z.array(engineObject),
  problems: z.array(z.string()).describe('Files of engines that are not used, and why'),
});
const foundAnswer = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      url: z.string(),
      kind: engineKindSchema,
      models: z.array(z.string()).describe('Its models that chat'),
      added: z.boolean().describe('Whether it is an engine of MegaNest already'),
    }),
  ),
});
const deletedAnswer = z.object({ id: z.string(), object: z.literal('engine'), deleted: z.literal(true) });

/** The engines that write answers, while MegaNest runs. */
@Controller('v1/engines')
export class EnginesController {
  constructor(@Inject(EngineDirectory) private readonly directory: EngineDirectory) {}

  @Get()
  @ApiOperation({ summary: 'List the engines, with their state', answer: listAnswer })
  async list(@Call() call: HttpCall): Promise<z.output<typeof listAnswer>> {
    const { engines, problems } = await this.directory.list(call);
    return { object: 'list', data: engines.map((engine) => ({ ...engine, object: 'engine' })), problems };
  }

  @Post()
  @ApiOperation({
    summary: 'Add an engine, or replace the one with its id',
    body: engineSpecSchema,
    answer: engineObject,
  })
  @HttpCode(200)
  async add(
    @Body(new SchemaPipe(engineSpecSchema)) spec: EngineSpec,
    @Call() call: HttpCall,
  ): Promise<z.output<typeof engineObject>> {
    return { ...(await this.directory.add(spec, call)), object: 'engine' };
  }

  @Get('found')
  @ApiOperation({ summary: 'List the engines at the usual ports of the machine', answer: foundAnswer })
  async found(@Call() call: HttpCall): Promise<z.output<typeof foundAnswer>> {
    return { object: 'list', data: await this.directory.local(call) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get an engine, with its state', answer: engineObject })
  async get(@Param('id') id: string, @Call() call: HttpCall): Promise<z.output<typeof engineObject>> {
    return { ...(await this.directory.find(id, call)), object: 'engine' };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Remove an engine that the API has added', answer: deletedAnswer })
  async remove(@Param('id') id: string, @Call() call: HttpCall): Promise<z.output<typeof deletedAnswer>> {
    await this.directory.remove(id, call);
    return { id, object: 'engine', deleted: true };
  }
}
