import {
  engineIdOf,
  engineSpecSchema,
  invalidField,
  parseOrThrow,
  type EngineStatus,
} from '#platform/contracts';
import { ApiOperation, Call, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import { EngineDirectory } from './engine-directory.js';

/** A worker in the form of SGLang's gateway. */
const workerObject = z.object({
  id: z.string(),
  url: z.string(),
  model_id: z.string(),
  models: z.array(z.string()),
  worker_type: z.literal('regular'),
  connection_type: z.literal('http'),
  runtime_type: z.string(),
  is_healthy: z.boolean(),
  load: z.int(),
  priority: z.int(),
  cost: z.number(),
  weight: z.number(),
  labels: z.record(z.string(), z.string()),
  circuit_breaker: z.string(),
});
type Worker = z.output<typeof workerObject>;
const workersAnswer = z.object({
  workers: z.array(workerObject),
  total: z.int(),
  stats: z.object({ prefill_count: z.int(), decode_count: z.int(), regular_count: z.int() }),
});
const urlsAnswer = z.object({ urls: z.array(z.string()) });
const changeAnswer = z.object({
  status: z.string(),
  worker_id: z.string(),
  url: z.string(),
  message: z.string(),
});

/** The request of SGLang's `POST /workers`. Other fields of it, such as `tokenizer_path`, do not apply to these engines. */
const createWorkerSchema = z.looseObject({
  url: z.string(),
  api_key: z.string().nullish(),
  model_id: z.string().min(1).nullish(),
  worker_type: z.enum(['regular']).nullish().describe('Prefill and decode workers are not supported'),
  labels: z.record(z.string(), z.string()).nullish(),
  weight: z.number().nullish(),
});
const urlQuery = z.object({ url: z.string().min(1), api_key: z.string().min(1).optional() });

/** SGLang's gateway API for workers, on the same engines as `/v1/engines`. */
@Controller()
export class WorkersController {
  constructor(@Inject(EngineDirectory) private readonly directory: EngineDirectory) {}

  @Get('workers')
  @ApiOperation({ summary: 'List the engines as workers of SGLang', answer: workersAnswer })
  async list(@Call() call: HttpCall): Promise<z.output<typeof workersAnswer>> {
    const { engines } = await this.directory.list(call);
    const stats = { prefill_count: 0, decode_count: 0, regular_count: engines.length };
    return { workers: engines.map(toWorker), total: engines.length, stats };
  }

  @Post('workers')
  @ApiOperation({
    summary: 'Add an engine in the form of SGLang',
    body: createWorkerSchema,
    answer: changeAnswer,
  })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(createWorkerSchema)) body: z.output<typeof createWorkerSchema>,
    @Call() call: HttpCall,
  ): Promise<z.output<typeof changeAnswer>> {
    return this.#add(
      {
        url: body.url,
        ...(body.api_key && { api_key: body.api_key }),
        ...(body.model_id && { models: [body.model_id] }),
        ...(body.labels && { labels: body.labels }),
        ...(body.weight != null && { weight: body.weight }),
      },
      call,
    );
  }

  @Get('workers/:id')
  @ApiOperation({ summary: 'Get an engine as a worker of SGLang', answer: workerObject })
  async get(@Param('id') id: string, @Call() call: HttpCall): Promise<Worker> {
    return toWorker(await this.#find(id, call));
  }

  @Delete('workers/:id')
  @ApiOperation({ summary: 'Remove an engine, by its id or its URL', answer: changeAnswer })
  async delete(@Param('id') id: string, @Call() call: HttpCall): Promise<z.output<typeof changeAnswer>> {
    return this.#remove(id, call);
  }

  @Post('add_worker')
  @ApiOperation({ summary: 'Add an engine by its URL', query: urlQuery, answer: changeAnswer })
  @HttpCode(200)
  async add(
    @Query(new SchemaPipe(urlQuery)) query: z.output<typeof urlQuery>,
    @Call() call: HttpCall,
  ): Promise<z.output<typeof changeAnswer>> {
    return this.#add(query, call);
  }

  @Post('remove_worker')
  @ApiOperation({ summary: 'Remove an engine by its URL', query: urlQuery, answer: changeAnswer })
  @HttpCode(200)
  async remove(
    @Query(new SchemaPipe(urlQuery)) { url }: z.output<typeof urlQuery>,
    @Call() call: HttpCall,
  ): Promise<z.output<typeof changeAnswer>> {
    return this.#remove(url, call);
  }

  @Get('list_workers')
  @ApiOperation({ summary: 'List the URLs of the engines', answer: urlsAnswer })
  async urls(@Call() call: HttpCall): Promise<z.output<typeof urlsAnswer>> {
    return { urls: (await this.directory.list(call)).engines.map(({ url }) => url) };
  }

  async #add(given: object, call: HttpCall): Promise<z.output<typeof changeAnswer>> {
    const spec = parseOrThrow(engineSpecSchema, given);
    const { id, url } = await this.directory.add(spec, call);
    return { status: 'accepted', worker_id: id, url, message: `Added worker ${url}` };
  }

  async #remove(idOrUrl: string, call: HttpCall): Promise<z.output<typeof changeAnswer>> {
    const { id, url } = await this.#find(idOrUrl, call);
    await this.directory.remove(id, call);
    return { status: 'accepted', worker_id: id, url, message: `Removed worker ${url}` };
  }

  /** An engine by its id or its URL. Errors: not_found. */
  async #find(idOrUrl: string, call: HttpCall): Promise<EngineStatus> {
    const { engines } = await this.directory.list(call);
    const found = engines.find(({ id, url }) => id === idOrUrl || sameUrl(url, idOrUrl));
    return found ?? this.directory.find(URL.canParse(idOrUrl) ? idOfUrl(idOrUrl) : idOrUrl, call);
  }
}

function sameUrl(one: string, other: string): boolean {
  return one.replace(/\/+$/, '') === other.replace(/\/+$/, '');
}

/** Errors: invalid_request for a text that is not a URL with a host. */
function idOfUrl(url: string): string {
  const id = engineIdOf({ url });
  if (id === '') throw invalidField('url', 'has no host');
  return id;
}

function toWorker(engine: EngineStatus): Worker {
  const models = engine.models.filter(({ served }) => served).map(({ id }) => id);
  return {
    id: engine.id,
    url: engine.url,
    model_id: models[0] ?? 'unknown',
    models,
    worker_type: 'regular',
    connection_type: 'http',
    runtime_type: engine.kind,
    is_healthy: engine.healthy,
    load: engine.in_flight,
    priority: 50,
    cost: 1,
    weight: engine.weight,
    labels: engine.labels,
    circuit_breaker: engine.state,
  };
}
