import { randomUUID } from 'node:crypto';
import { Sealer } from '#responses';
import { ResponseLeasesRepository, ResponsesRepository, type Lease, type HeldLease } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { keptSecrets, openSecrets } from '../tools/mcp/kept-secrets.js';
import { Durable, ephemeral, StoredAtEnd, type Persistence, type PersistenceOptions } from './persistence.js';

export interface PersistenceWish {
  idempotency?: PersistenceOptions['idempotency'];
  /** The response is sent whole, so that its id is not known before its end. */
  isSentWhole?: boolean;
}

/** Chooses how responses are kept, and keeps the leases of those that run. */
@Injectable()
export class ResponsePersistence {
  constructor(
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(ResponseLeasesRepository) private readonly leases: ResponseLeasesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Sealer) private readonly sealer: Sealer,
  ) {}

  /** For a new response: durable in the background, at its end where it is stored, otherwise ephemeral. */
  choose(plan: ResponsePlan, { idempotency, isSentWhole = false }: PersistenceWish = {}): Persistence {
    const { store, background } = plan.initial;
    const options = { leaseOwner: randomUUID(), leaseMs: this.environment.RESPONSES_LEASE_MS, idempotency };
    const tables = this.#tables;
    if (background)
      return new Durable(tables, this.#withKeptSecrets(plan), { ...options, isTakenOver: false });
    if (!store) return ephemeral;
    return new StoredAtEnd(tables, plan, { ...options, rowAtEnd: isSentWhole && !idempotency });
  }

  /** For a response that another process began and that was claimed under `leaseOwner`. */
  takeOver(plan: ResponsePlan, leaseOwner: string): Persistence {
    const { RESPONSES_LEASE_MS: leaseMs } = this.environment;
    return new Durable(this.#tables, plan, { leaseOwner, leaseMs, isTakenOver: true });
  }

  /** The plan of a response that another process began, with what its tools need. Errors: internal_error. */
  withSecrets(plan: ResponsePlan): ResponsePlan {
    const { owner, initial, job } = plan;
    const toolSecrets = openSecrets(job.toolSecrets, initial.tools, { sealer: this.sealer, owner });
    return { ...plan, toolSecrets };
  }

  /** Renews leases; answers those that are held still. */
  renew(leases: readonly Lease[]): Promise<HeldLease[]> {
    return this.leases.heartbeat(leases, this.environment.RESPONSES_LEASE_MS);
  }

  /** Hands leases to whichever process asks first. */
  release(leases: readonly Lease[]): Promise<void> {
    return this.leases.release(leases);
  }

  get #tables() {
    return { responses: this.responses, leases: this.leases };
  }

  #withKeptSecrets(plan: ResponsePlan): ResponsePlan {
    const { owner, job, toolSecrets: secrets } = plan;
    const keysAreElsewhere = this.environment.RESPONSES_ENCRYPTION_KEYS.length > 0;
    const toolSecrets = keptSecrets(secrets, { sealer: this.sealer, owner, keysAreElsewhere });
    return toolSecrets === undefined ? plan : { ...plan, job: { ...job, toolSecrets } };
  }
}
