import { randomBytes } from 'node:crypto';
import { Drain } from '#platform/service-kit';
import {
  createResponseSchema,
  newResponse,
  ResponseMachine,
  Sealer,
  type ResponseEvent,
} from '#api/responses';
import type {
  EventRecord,
  ResponseEnd,
  ResponseLeasesRepository,
  ResponsesRepository,
} from '#platform/storage';
import { describe, expect, it } from 'vitest';
import type { GatewayEnvironment } from '../../config/gateway.environment.js';
import type { GenerationStarter } from './generation-starter.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { ResponsePersistence } from './persistence.js';
import { ResponseRuns } from './response-runs.js';
import { ResponseSweeper } from './response-sweeper.js';
import { separateSecrets } from '../tools/mcp/mcp-entry.js';

const key = 'a key that lies outside of the database';
const given = [
  { type: 'mcp', server_label: 'sums', server_url: 'https://a.example/mcp', authorization: 'secret-token' },
];
const { tools, secrets } = separateSecrets(given);

/** A response that one gateway has queued, and another one takes up. */
function takeOver(configuredKeys: string[], { takeovers = 1, sweeps = 1 } = {}) {
  const { settings } = createResponseSchema.parse({ input: 'x', background: true });
  const initial = newResponse({
    id: 'resp_1',
    createdAt: 1,
    model: 'scripted',
    settings: { ...settings, tools },
    status: 'queued',
  });
  const rows: { request: unknown }[] = [];
  const ends: ResponseEnd[] = [];
  const started: ResponsePlan[] = [];
  const events = new ResponseMachine(initial).create();
  const writers: string[] = [];
  let logIsRead = () => {};
  const reading = new Promise<void>((resolve) => (logIsRead = resolve));
  const responses = {
    insert: (row: { request: unknown }) => Promise.resolve(void rows.push(row)),
    finish: (_id: string, _owner: string, end: ResponseEnd) => Promise.resolve(ends.push(end) > 0),
  } as unknown as ResponsesRepository;
  const leases = {
    claimExpired: (_owner: string, _leaseMs: number, { working }: { working: readonly string[] }) =>
      Promise.resolve(
        [initial.id]
          .filter((id) => !working.includes(id))
          .map((id) => ({
            id,
            owner: 'me',
            snapshot: initial,
            request: { ...(rows[0]?.request as object), takeovers },
          })),
      ),
    readEvents: () => reading.then(() => events as unknown as EventRecord[]),
    appendEvents: (_id: string, owner: string) => Promise.resolve(writers.push(owner) > 0),
  } as unknown as ResponseLeasesRepository;
  const starter = {
    start: (plan: ResponsePlan) => {
      started.push(plan);
      const steps = (async function* () {
        await Promise.resolve();
        yield { type: 'chunk' as const, chunk: { choice: 0, text: 'done' } };
      })();
      return Promise.resolve({
        ignored: [],
        degraded: new Set<string>(),
        supports: [],
        receipt: () => undefined,
        steps,
      });
    },
  } as unknown as GenerationStarter;
  const environment = {
    RESPONSES_LEASE_MS: 1_000,
    RESPONSES_BACKGROUND_TIMEOUT_MS: 10_000,
    RESPONSES_KEEP_ALIVE_MS: 10_000,
    RESPONSES_ENCRYPTION_KEYS: configuredKeys,
    LOG_LEVEL: 'silent',
  } as unknown as GatewayEnvironment;
  const sealer = new Sealer([randomBytes(32)]);
  const drain = new Drain();
  const persistence = new ResponsePersistence(responses, leases, environment, sealer);
  const runs = new ResponseRuns(starter, persistence, environment, sealer, drain);
  const job = {
    chat: { isNamed: false, messages: [], parameters: {}, includeUsage: false, extra: {} },
    truncation: 'disabled' as const,
    searchQuery: null,
    includeSearchResults: false,
    include: [],
    toolItems: [],
  };
  const plan = { owner: 'me', initial, context: [], inputItems: [], job, toolSecrets: secrets, ignored: [] };
  const sweep = async () => {
    await persistence.choose(plan).begin();
    const sweeper = new ResponseSweeper(runs, persistence, leases, environment, drain);
    const taken: Promise<void>[] = [];
    for (let sweep = 0; sweep < sweeps; sweep += 1) {
      taken.push(sweeper.takeOver());
      // Its claim is over, and the log is still being read.
      await new Promise(setImmediate);
    }
    logIsRead();
    await Promise.all(taken);
    await runs.find('me', initial.id)?.ended;
    return { row: JSON.stringify(rows[0]), end: ends[0], started, writers };
  };
  return sweep();
}

const typesOf = (end: ResponseEnd | undefined) =>
  ((end?.events ?? []) as unknown as ResponseEvent[]).map(({ type }) => type);

describe('a background response with keys that another gateway takes over', () => {
  it('has its keys again, sealed in between', async () => {
    const { row, end, started } = await takeOver([key]);
    expect(row).not.toContain('secret-token');
    expect(started[0]?.toolSecrets).toEqual(secrets);
    expect(end?.status).toBe('completed');
  });

  it('fails and says why where its keys may not be kept', async () => {
    const { row, end, started } = await takeOver([]);
    expect(row).not.toContain('secret-token');
    expect(started).toEqual([]);
    expect(end).toMatchObject({ status: 'failed' });
    expect(typesOf(end)).toEqual(['error', 'response.failed']);
    expect(JSON.stringify(end)).toContain('RESPONSES_ENCRYPTION_KEYS');
  });

  it('fails where gateway after gateway stopped while it worked on it', async () => {
    expect((await takeOver([key], { takeovers: 3 })).end?.status).toBe('completed');
    const { end, started } = await takeOver([key], { takeovers: 4 });
    expect(started).toEqual([]);
    expect(end).toMatchObject({ status: 'failed' });
    expect(JSON.stringify(end)).toContain('stopped while they worked on this response');
  });
});

describe('a response whose lease runs out again while its log is read', () => {
  it('is begun again once', async () => {
    const { started, end, writers } = await takeOver([key], { sweeps: 3 });
    expect(started).toHaveLength(1);
    expect(end).toMatchObject({ status: 'completed' });
    expect(new Set(writers).size).toBe(1);
  });
});
