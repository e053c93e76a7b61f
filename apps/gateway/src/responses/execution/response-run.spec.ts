import { MegaNestError } from '#platform/contracts';
import {
  createResponseSchema,
  newResponse,
  responseFromEvents,
  type MachineStep,
  type ResponseEvent,
} from '#api/responses';
import { describe, expect, it } from 'vitest';
import { ephemeral, LeaseLostError, type Persistence } from './persistence.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { ResponseRun } from './response-run.js';

function planOf(background = false): ResponsePlan {
  const { settings } = createResponseSchema.parse({ input: 'x', background });
  const status = background ? 'queued' : 'in_progress';
  return {
    owner: 'me',
    initial: newResponse({ id: 'resp_1', createdAt: 1, model: 'm', settings, status }),
    context: [],
    toolSecrets: new Map(),
    inputItems: [],
    ignored: [],
    job: {
      chat: { isNamed: false, messages: [], parameters: {}, extra: {}, includeUsage: false },
      truncation: 'disabled',
      searchQuery: null,
      includeSearchResults: false,
      include: [],
      toolItems: [],
    },
  };
}

const chunk = (text: string): MachineStep => ({ type: 'chunk', chunk: { choice: 0, text } });

async function* words(...texts: (string | Error)[]): AsyncGenerator<MachineStep> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield chunk(text);
  }
}

/** Yields once and then waits until it is stopped. */
async function* endless(signal: AbortSignal): AsyncGenerator<MachineStep> {
  yield chunk('a');
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw new MegaNestError('cancelled');
}

interface Options {
  chunks: (signal: AbortSignal) => AsyncIterable<MachineStep>;
  persistence?: Partial<Persistence>;
  background?: boolean;
  keepAliveMs?: number;
  begun?: ResponseEvent[];
}

function runOf({
  chunks,
  persistence,
  background = false,
  keepAliveMs = 60_000,
  begun,
}: Options): ResponseRun {
  return new ResponseRun({
    plan: planOf(background),
    persistence: { ...ephemeral, isDurable: background, ...persistence },
    generate: (signal) =>
      Promise.resolve({
        ignored: [],
        degraded: new Set<string>(),
        supports: [],
        receipt: () => undefined,
        steps: chunks(signal),
      }),
    keepAliveMs,
    begun,
  });
}

const typesOf = (events: readonly ResponseEvent[]) => events.map(({ type }) => type);

describe('ResponseRun', () => {
  it('shows nothing before it is kept', async () => {
    const written: number[] = [];
    const run = runOf({
      background: true,
      chunks: () => words('a', 'b'),
      persistence: {
        append: async (events) => {
          await Promise.resolve();
          expect(run.log.events.length).toBe(written.length);
          written.push(...events.map(({ sequence_number }) => sequence_number));
        },
        finish: async (events) => {
          await Promise.resolve();
          expect(run.log.events.length).toBe(written.length);
          written.push(...events.map(({ sequence_number }) => sequence_number));
        },
      },
    });
    await run.start();
    expect((await run.ended).output_text).toBe('ab');
    expect(written).toEqual(run.log.events.map((_event, index) => index));
  });

  it('rejects, as if it had never been, where the model fails before its first token', async () => {
    let begun = false;
    const run = runOf({
      chunks: () => words(new MegaNestError('overloaded', { service: 'llm', detail: 'no room' })),
      persistence: {
        begin: () => {
          begun = true;
          return Promise.resolve(undefined);
        },
      },
    });
    await expect(run.start()).rejects.toMatchObject({ code: 'overloaded' });
    expect([begun, run.log.events]).toEqual([false, []]);
  });

  it('fails after its first token with an event, and tells why', async () => {
    const run = runOf({ chunks: () => words('a', new Error('gone')) });
    await run.start();
    expect((await run.ended).status).toBe('failed');
    expect(run.failure?.message).toContain('gone');
    expect(typesOf(run.log.events).slice(-2)).toEqual(['error', 'response.failed']);
  });

  it('is cancelled once, however often it is asked', async () => {
    const run = runOf({ chunks: endless });
    await run.start();
    const [first, second] = await Promise.all([run.cancel(), run.cancel()]);
    expect(first.status).toBe('cancelled');
    expect(second).toEqual(first);
    expect(await run.cancel()).toEqual(first);
  });

  it('leaves the end to another process when its lease is gone', async () => {
    const run = runOf({
      background: true,
      chunks: endless,
      persistence: { append: () => Promise.reject(new LeaseLostError('resp_1')) },
    });
    await run.start();
    await expect(run.ended).rejects.toThrow(LeaseLostError);
    await expect(run.log.follow().next()).rejects.toThrow(LeaseLostError);
  });

  it('fails in the foreground where its end cannot be kept', async () => {
    const away = new MegaNestError('service_unavailable', { service: 'postgres', detail: 'away' });
    const run = runOf({ chunks: () => words('a'), persistence: { finish: () => Promise.reject(away) } });
    await run.start();
    expect((await run.ended).status).toBe('failed');
    expect(run.failure).toBe(away);
    expect(run.log.events.map(({ sequence_number }) => sequence_number)).toEqual(
      run.log.events.map((_event, index) => index),
    );
    expect(responseFromEvents(run.log.events).status).toBe('failed');
  });

  it('goes on with a log that another process began', async () => {
    const first = runOf({ background: true, chunks: endless });
    await first.start();
    await first.log.follow().next();
    const begun = first.log.events.slice(0, 3);
    first.abandon(new LeaseLostError('resp_1'));
    await expect(first.ended).rejects.toThrow(LeaseLostError);
    const second = runOf({ background: true, chunks: () => words('b'), begun });
    await second.start();
    expect((await second.ended).output_text).toBe('b');
    expect(second.log.events.slice(0, 3)).toEqual(begun);
    expect(second.log.events.map(({ sequence_number }) => sequence_number)).toEqual(
      second.log.events.map((_event, index) => index),
    );
  });

  it('has output from its first word on, and ends after its last write when it is abandoned', async () => {
    const written: string[] = [];
    let write = () => {};
    const writes = new Promise<void>((resolve) => (write = resolve));
    const run = runOf({
      background: true,
      chunks: endless,
      persistence: {
        append: async (events) => {
          await writes;
          written.push(...typesOf(events));
        },
      },
    });
    await run.start();
    await expect.poll(() => run.hasOutput).toBe(true);
    expect(run.log.events).toEqual([]);
    run.abandon(new LeaseLostError('resp_1'));
    let hasEnded = false;
    const ended = run.ended.catch(() => (hasEnded = true));
    await new Promise(setImmediate);
    expect([hasEnded, written]).toEqual([false, []]);
    write();
    await ended;
    expect(written).toContain('response.output_text.delta');
  });

  it('has no output where a word comes after it was abandoned', async () => {
    const run = runOf({
      background: true,
      chunks: async function* (signal) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        yield chunk('late');
      },
    });
    await run.start();
    await run.log.follow().next();
    run.abandon(new LeaseLostError('resp_1'));
    await expect(run.ended).rejects.toThrow(LeaseLostError);
    expect([run.hasOutput, typesOf(run.log.events).filter((type) => /output|content/.test(type))]).toEqual([
      false,
      [],
    ]);
  });

  it('repeats response.in_progress while nothing is said', async () => {
    const run = runOf({ chunks: endless, keepAliveMs: 5 });
    await run.start();
    let repeated = 0;
    for await (const { type } of run.log.follow()) {
      if (type === 'response.in_progress') repeated += 1;
      if (repeated === 4) run.stop();
    }
    expect((await run.ended).status).toBe('cancelled');
  });
});
