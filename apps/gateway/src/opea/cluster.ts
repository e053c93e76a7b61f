import * as contracts from '#platform/contracts';
import { findReceipts, statisticsMethod, type ParsedRequestOf } from '#platform/contracts';
import { RpcClient, RpcHandler } from '#platform/messaging';
import { Metrics, sumDigests, type LatencyStatistics } from '#platform/service-kit';
import { Controller, Inject, Injectable } from '@nestjs/common';
import { AnnouncedServices } from '../mega-services/nodes/announced-services.js';
import { ReceiptStore, type StoredReceipt } from '../mega-services/receipt-store.js';

/** All methods of the contracts. */
export const rpcMethods: readonly contracts.RpcMethod[] = Object.values<unknown>(contracts).filter(isMethod);

function isMethod(value: unknown): value is contracts.RpcMethod {
  return typeof value === 'object' && value !== null && 'subject' in value && 'request' in value;
}

/** Instances that do not answer within this time are skipped. */
const answerMs = 2_000;

/** Collects data of all instances: the receipts of the gateways, and the latencies of all services. */
@Injectable()
export class Cluster {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
    @Inject(AnnouncedServices) private readonly announced: AnnouncedServices,
    @Inject(Metrics) metrics: Metrics,
  ) {
    metrics.gatherAll = () => this.statistics();
  }

  /** Finds a receipt in all gateways. */
  async find(owner: string, requestId: string): Promise<StoredReceipt | undefined> {
    return (await this.#receipts({ owner, requestId }))[0];
  }

  /**
   * The last receipts of an owner's requests to a mega service, from all gateways, newest first. While NATS is
   * unavailable, the receipts of this gateway.
   */
  async recent(owner: string, megaService: string, count: number): Promise<StoredReceipt[]> {
    const own = () => this.receipts.recent(owner, megaService, count);
    const found = await this.#receipts({ owner, megaService, count }).catch(own);
    return found.toSorted((a, b) => b.receipt.startedAt - a.receipt.startedAt).slice(0, count);
  }

  /** Latencies of the last ten minutes, by the names in `/v1/statistics`. */
  async statistics(): Promise<Record<string, LatencyStatistics>> {
    const services = new Set([...rpcMethods.map(({ service }) => service), ...this.announced.running]);
    const asked = [...services].map(async (service) => {
      const deadline = Date.now() + answerMs;
      const replies = await this.client.requestAll(statisticsMethod(service), {}, { deadline });
      const sums = sumDigests(replies.map(({ operations }) => operations));
      return Object.entries(sums).map(([name, sum]) => [`opea_service@${service}/${name}`, sum] as const);
    });
    return Object.fromEntries((await Promise.all(asked)).flat());
  }

  async #receipts(wanted: Parameters<typeof this.client.requestAll<typeof findReceipts>>[1]) {
    const replies = await this.client.requestAll(findReceipts, wanted, { deadline: Date.now() + answerMs });
    return replies.flatMap(({ receipts }) => receipts as StoredReceipt[]);
  }
}

/** Answers other gateways that ask for receipts. */
@Controller()
export class ReceiptsRpcController {
  constructor(@Inject(ReceiptStore) private readonly receipts: ReceiptStore) {}

  @RpcHandler(findReceipts)
  find({ owner, requestId, megaService, count }: ParsedRequestOf<typeof findReceipts>): {
    receipts: StoredReceipt[];
  } {
    if (requestId === undefined) return { receipts: this.receipts.recent(owner, megaService ?? '', count) };
    const found = this.receipts.find(owner, requestId);
    return { receipts: found ? [found] : [] };
  }
}
