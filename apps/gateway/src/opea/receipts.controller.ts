import { MegaNestError } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import { ApiOperation } from '#service-kit';
import { Controller, Get, Inject, Param } from '@nestjs/common';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { ReceiptStore, type StoredReceipt } from '../mega-services/receipt-store.js';
import { Owner } from '../auth/owner.js';
import { megaServiceAnswer, megaServicesAnswer, receiptAnswer } from './opea-answers.js';

/** Timings of this many last requests are shown with a mega service. */
const shownReceipts = 10;

/** Where the time of a caller's request went, and what the mega services look like. */
@Controller()
export class ReceiptsController {
  constructor(
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
  ) {}

  /** By the `x-request-id` of the answer. */
  @Get('v1/receipts/:id')
  @ApiOperation({ summary: 'Where the time of a request went', answer: receiptAnswer })
  receipt(@Param('id') id: string, @Owner() owner: string): StoredReceipt {
    const found = this.receipts.find(owner, id);
    if (found) return found;
    throw new MegaNestError('not_found', { what: `The receipt of the request ${id}`, param: 'id' });
  }

  @Get('v1/megaservices')
  @ApiOperation({ summary: 'The graphs of the mega services', answer: megaServicesAnswer })
  list() {
    return { megaservices: this.megaServices.list().map(describe) };
  }

  @Get('v1/megaservices/:name')
  @ApiOperation({ summary: 'A graph with the timings of its last requests', answer: megaServiceAnswer })
  find(@Param('name') name: string, @Owner() owner: string) {
    const definition = this.megaServices.find(name);
    if (!definition)
      throw new MegaNestError('not_found', { what: `The mega service ${name}`, param: 'name' });
    const recent = this.receipts
      .recent(owner, name, shownReceipts)
      .map(({ requestId, receipt }) => ({ requestId, ...receipt }));
    return { ...describe(definition), recent };
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
