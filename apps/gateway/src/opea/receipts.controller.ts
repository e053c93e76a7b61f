import { MegaNestError } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import { ServiceDirectory } from '#platform/messaging';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { ReceiptStore, type StoredReceipt } from '../mega-services/receipt-store.js';
import { Cluster } from './cluster.js';

const runReceipt = z.looseObject({
  megaService: z.string(),
  state: z.enum(['running', 'ok', 'failed', 'cancelled']),
  startedAt: z.number().describe('Start time in epoch milliseconds'),
  runMs: z.number(),
  nodes: z.array(
    z.looseObject({
      node: z.string(),
      service: z.string(),
      state: z.enum(['waiting', 'running', 'ok', 'skipped', 'failed', 'cancelled']),
      queuedMs: z.number(),
      runMs: z.number(),
      attempts: z.int(),
    }),
  ),
});
const receiptAnswer = z.object({
  requestId: z.string(),
  receipt: runReceipt,
});
const megaService = z.looseObject({
  name: z.string(),
  path: z.string().nullable(),
  description: z.string(),
  output: z.string(),
  nodes: z.array(z.looseObject({ node: z.string(), service: z.string(), after: z.array(z.string()) })),
});
const megaServicesAnswer = z.object({ megaservices: z.array(megaService) });
const megaServiceAnswer = megaService.extend({
  source: z.string().describe('YAML of its file'),
  recent: z.array(runReceipt.extend({ requestId: z.string() })),
});

const validationAnswer = z.object({
  valid: z.boolean(),
  problems: z.array(
    z.object({
      file: z.string(),
      node: z.string().optional(),
      field: z.string().optional(),
      message: z.string(),
    }),
  ),
});

const instancesAnswer = z.object({
  instances: z.array(
    z.object({
      service: z.string(),
      instance_id: z.string(),
      version: z.string(),
      started: z.string(),
      requests: z.int(),
      errors: z.int(),
      load: z
        .record(z.string(), z.record(z.string(), z.number()))
        .describe('Load by the names of the metrics, e.g. requests and KV cache of an engine'),
    }),
  ),
});

const validateSchema = z.object({
  source: z.string().max(100_000).describe('YAML of the mega service'),
  file: z.string().min(1).max(255).default('megaservice.yaml').describe('File name for the list of problems'),
});

/** Number of last requests that are shown with a mega service. */
const shownReceipts = 10;

/** Timings of the caller's requests, and the graphs of the mega services. */
@Controller()
export class ReceiptsController {
  constructor(
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
    @Inject(Cluster) private readonly cluster: Cluster,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(ServiceDirectory) private readonly directory: ServiceDirectory,
  ) {}

  /** Finds a receipt of any gateway by the `x-request-id` of its answer. */
  @Get('v1/receipts/:id')
  @ApiOperation({ summary: 'Get the timings of a request', answer: receiptAnswer })
  async receipt(@Param('id') id: string, @Owner() owner: string): Promise<StoredReceipt> {
    const found = this.receipts.find(owner, id) ?? (await this.cluster.find(owner, id));
    if (found) return found;
    throw new MegaNestError('not_found', { what: `The receipt of the request ${id}`, param: 'id' });
  }

  @Get('v1/megaservices')
  @ApiOperation({ summary: 'List the graphs of the mega services', answer: megaServicesAnswer })
  list() {
    return { megaservices: this.megaServices.list().map(describe) };
  }

  /** Checks the YAML without storing it. Mega services are stored as files only. */
  @Post('v1/megaservices/validate')
  @ApiOperation({ summary: 'Check the YAML of a mega service', answer: validationAnswer })
  @HttpCode(200)
  validate(@Body(new SchemaPipe(validateSchema)) { source, file }: z.output<typeof validateSchema>) {
    const problems = this.megaServices.problemsOf(source, file);
    return { valid: problems.length === 0, problems };
  }

  /** Lists the instances in the service discovery. */
  @Get('v1/instances')
  @ApiOperation({ summary: 'List the running instances of the services', answer: instancesAnswer })
  async instances(): Promise<z.output<typeof instancesAnswer>> {
    const found = await this.directory.list();
    const instances = found.map(({ service, instanceId, version, started, requests, errors, load }) => ({
      service,
      instance_id: instanceId,
      version,
      started,
      requests,
      errors,
      load,
    }));
    return { instances };
  }

  @Get('v1/megaservices/:name')
  @ApiOperation({
    summary: 'Get a graph with its YAML and the timings of its last requests',
    answer: megaServiceAnswer,
  })
  async find(@Param('name') name: string, @Owner() owner: string) {
    const definition = this.megaServices.find(name);
    if (!definition)
      throw new MegaNestError('not_found', { what: `The mega service ${name}`, param: 'name' });
    const found = await this.cluster.recent(owner, name, shownReceipts);
    const recent = found.map(({ requestId, receipt }) => ({ requestId, ...receipt }));
    return {
      ...describe(definition),
      source: await this.megaServices.sourceOf(definition),
      recent,
    };
  }
}

function describe({ name, path, description, file, output, nodes }: MegaServiceDefinition) {
  const graph = [...nodes.values()].map((node) => ({
    node: node.name,
    service: node.target.service,
    after: node.after,
    inputs: node.target.inputs,
    params: node.target.params,
    optional: node.optional,
    timeoutMs: node.timeoutMs ?? null,
    retry: node.retry,
    when: node.when?.source ?? null,
    fallback: node.fallback?.service ?? null,
    stream: node.stream,
  }));
  return { name, path: path ?? null, description, file, output, nodes: graph };
}
