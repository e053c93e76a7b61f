import {
  engineIdOf,
  findEngine,
  listEngines,
  localEngines,
  type ReplyOf,
  invalidField,
  MegaNestError,
  reloadEngines,
  type EngineSpec,
  type EngineStatus,
  type NamedEngine,
} from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { EnginesRepository } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';

/** Maximum number of engines that the API adds. */
const maxEngines = 200;
/** Timeout of one LLM service. */
const answerMs = 5_000;

/** The engines of all LLM services: those of their files, and those that the API has added. */
@Injectable()
export class EngineDirectory {
  constructor(
    @Inject(EnginesRepository) private readonly stored: EnginesRepository,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  /**
   * All engines. The calls of all instances are summed; an engine is as healthy as the least healthy instance says.
   * Errors: service_unavailable while no LLM service answers.
   */
  async list(call: CallOptions): Promise<{ engines: EngineStatus[]; problems: string[] }> {
    const replies = await this.client.requestAll(
      listEngines,
      {},
      { ...call, deadline: Date.now() + answerMs },
    );
    // `requestAll` skips instances that announce no load.
    const all = replies.length > 0 ? replies : [await this.client.request(listEngines, {}, call)];
    const byId = new Map<string, EngineStatus>();
    for (const one of all.flatMap(({ engines }) => engines)) {
      const known = byId.get(one.id);
      byId.set(one.id, known ? merged(known, one) : one);
    }
    return { engines: [...byId.values()], problems: [...new Set(all.flatMap(({ problems }) => problems))] };
  }

  /** The engines at the usual ports of the machine of an LLM service. */
  async local(call: CallOptions): Promise<ReplyOf<typeof localEngines>['engines']> {
    return (await this.client.request(localEngines, {}, call)).engines;
  }

  /** Errors: not_found. */
  async find(id: string, call: CallOptions): Promise<EngineStatus> {
    const { engines } = await this.list(call);
    const found = engines.find((engine) => engine.id === id);
    if (found) return found;
    throw notFound(id);
  }

  /**
   * Asks the engine for its models, and adds it, or replaces the one with its id. Errors: unreachable_url,
   * forbidden_url, invalid_request for an engine without a model that chats, conflict for the id of an engine of a file.
   */
  async add(spec: EngineSpec, call: CallOptions): Promise<EngineStatus> {
    const id = engineIdOf(spec);
    const { engines } = await this.list(call);
    const source = engines.find((engine) => engine.id === id)?.source;
    if (source !== undefined && source !== 'api')
      throw new MegaNestError('conflict', {
        detail: `id: the engine ${id} is named by ${source === 'environment' ? 'LLM_ENDPOINT' : `the file ${source}`}`,
        param: 'id',
      });
    if (!spec.disabled) await this.#assertChats(spec, call);
    const isAdded = await this.stored.put({ id, spec: { ...spec, id } }, maxEngines);
    if (!isAdded) throw new MegaNestError('conflict', { detail: `there are ${maxEngines} engines already` });
    await this.#tellAll(call);
    return this.find(id, call);
  }

  /** Errors: not_found, conflict for an engine of a file. */
  async remove(id: string, call: CallOptions): Promise<void> {
    if (!(await this.stored.delete(id))) {
      const { source } = await this.find(id, call);
      const where = source === 'environment' ? 'LLM_ENDPOINT' : `the file ${source}`;
      throw new MegaNestError('conflict', {
        detail: `the engine ${id} is named by ${where}; remove it there`,
      });
    }
    await this.#tellAll(call);
  }

  /** The stored engines, with their keys. Rows that this version does not understand are left out by the caller. */
  async all(): Promise<NamedEngine[]> {
    return (await this.stored.list()).map(({ id, spec }) => ({ ...(spec as EngineSpec), id }));
  }

  async #assertChats(spec: EngineSpec, call: CallOptions): Promise<void> {
    const { models, kind } = await this.client.request(findEngine, spec, {
      ...call,
      deadline: Date.now() + 2 * answerMs,
    });
    const lacking = spec.models?.find((name) => models.length > 0 && !models.some(({ id }) => id === name));
    if (lacking !== undefined) {
      const names = models.map(({ id }) => id).join(', ');
      throw invalidField('models', `the engine does not have ${lacking}, but ${names}`);
    }
    if (spec.models || models.some(({ served }) => served)) return;
    const advice =
      kind === 'tei'
        ? '; a server of vectors or rankings belongs into TEI_EMBEDDING_ENDPOINT or TEI_RERANKING_ENDPOINT'
        : '';
    throw invalidField('url', `the engine (${kind}) has no model that chats${advice}`);
  }

  async #tellAll(call: CallOptions): Promise<void> {
    const options = { ...call, deadline: Date.now() + 2 * answerMs };
    const replies = await this.client.requestAll(reloadEngines, {}, options);
    if (replies.length === 0) await this.client.request(reloadEngines, {}, options);
  }
}

function merged(one: EngineStatus, other: EngineStatus): EngineStatus {
  return {
    ...one,
    healthy: one.healthy && other.healthy,
    state: one.state === 'closed' ? other.state : one.state,
    problem: one.problem ?? other.problem,
    in_flight: one.in_flight + other.in_flight,
    requests: one.requests + other.requests,
    failures: one.failures + other.failures,
    openings: one.openings + other.openings,
  };
}

function notFound(id: string): MegaNestError {
  return new MegaNestError('not_found', { what: `The engine ${id}`, param: 'id' });
}
