import * as fc from 'fast-check';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { MegaNestError } from '#contracts';
import { parseMegaService } from '../definition/parse.js';
import { createServiceRegistry } from '../definition/service-kind.js';
import type { MegaServiceDefinition, NodeDefinition } from '../definition/types.js';
import { runDag } from './run-dag.js';
import type { NodeContext, RunEvent, RunHandle } from './types.js';

const start = Date.parse('2026-11-20T12:00:00Z');
const text = { kind: 'text' };

/** Its input stands in for `pass`, `need` cannot do without it, and `relay` reads it as a stream. */
const registry = createServiceRegistry([
  {
    service: 'pass',
    inputs: { text: { ...text, optional: true } },
    output: 'text',
    parameters: z.object({}),
    passThrough: 'text',
    streaming: true,
  },
  { service: 'need', inputs: { text }, output: 'text', parameters: z.object({}), streaming: true },
  {
    service: 'relay',
    inputs: { text: { ...text, stream: 'chunks' } },
    output: 'text',
    parameters: z.object({}),
    passThrough: 'text',
    streaming: true,
  },
]);

/** What one attempt of a node does, and after how many milliseconds. */
interface Deed {
  afterMs: number;
  end: 'give' | 'retryable' | 'fatal' | 'throw' | 'hang' | 'cut' | 'answer' | 'stream' | 'break';
  /** A deaf attempt does not listen to its signal. */
  deaf: boolean;
}

interface Plan {
  nodes: {
    after: number[];
    needs: boolean;
    optional: boolean;
    timeoutMs: number | undefined;
    attempts: number;
    hedgeAfterMs: number | undefined;
    when: string | undefined;
    fallback: boolean;
    deeds: Deed[];
  }[];
  /** The last node reads the one before it as a stream. */
  relay: boolean;
  cancelAtMs: number | undefined;
  deadlineMs: number | undefined;
  /** Chunks after which the consumer leaves; undefined: it reads to the end. */
  leaveAfter: number | undefined;
}

const deed = (ends: Deed['end'][]) =>
  fc.record({ afterMs: fc.integer({ min: 0, max: 60 }), end: fc.constantFrom(...ends), deaf: fc.boolean() });

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

function plan(ends: Deed['end'][]): fc.Arbitrary<Plan> {
  const node = fc.record({
    after: fc.array(fc.nat(8), { maxLength: 4 }),
    needs: fc.boolean(),
    optional: fc.boolean(),
    timeoutMs: maybe(fc.integer({ min: 1, max: 50 })),
    attempts: fc.integer({ min: 1, max: 3 }),
    hedgeAfterMs: maybe(fc.integer({ min: 1, max: 30 })),
    when: maybe(fc.constantFrom('true', 'false')),
    fallback: fc.boolean(),
    deeds: fc.array(deed(ends), { minLength: 1, maxLength: 4 }),
  });
  return fc.record({
    nodes: fc.array(node, { minLength: 1, maxLength: 9 }),
    relay: fc.boolean(),
    cancelAtMs: maybe(fc.integer({ min: 0, max: 200 })),
    deadlineMs: maybe(fc.integer({ min: 0, max: 300 })),
    leaveAfter: maybe(fc.integer({ min: 0, max: 3 })),
  });
}

/** The definition of a plan: node i follows some of the nodes before it; the last one answers. */
function definitionOf({ nodes, relay }: Plan): MegaServiceDefinition {
  const last = nodes.length - 1;
  const sources = nodes.map((node, index) => {
    const relays = relay && index === last && index > 0;
    const wanted = relays ? [last - 1] : node.after;
    const after = index === 0 ? [] : [...new Set(wanted.map((before) => before % index))];
    const [feeding] = after;
    const needs = node.needs && feeding !== undefined;
    return {
      service: relays ? 'relay' : needs ? 'need' : 'pass',
      after: after.map((before) => `n${before}`),
      ...(feeding !== undefined && { inputs: { text: `n${feeding}` } }),
      optional: node.optional && (relays || (!needs && feeding !== undefined)),
      ...(node.timeoutMs !== undefined && { timeoutMs: node.timeoutMs }),
      retry: { attempts: node.attempts, backoffMs: 5 },
      ...(node.hedgeAfterMs !== undefined && { hedgeAfterMs: node.hedgeAfterMs }),
      ...(node.when !== undefined && { when: node.when }),
      ...(node.fallback && { fallback: {} }),
      stream: index === last || (relay && index === last - 1),
    };
  });
  const yaml = {
    name: 'random',
    description: 'A random graph.',
    output: `n${last}`,
    nodes: Object.fromEntries(sources.map((source, index) => [`n${index}`, source])),
  };
  return parseMegaService(JSON.stringify(yaml), 'random.yaml', { registry });
}

interface Call {
  node: string;
  context: NodeContext;
  /** All nodes before it had settled or, for a reader of a stream, begun to stream. */
  inputsReady: boolean;
  /** True when the run had ended already. */
  late: boolean;
}

class Scenario {
  readonly definition: MegaServiceDefinition;
  readonly calls: Call[] = [];
  readonly settled = new Map<string, string>();
  readonly events: RunEvent[] = [];
  readonly read: unknown[] = [];
  readonly caller = new AbortController();
  readonly handle: RunHandle;
  readonly streaming = new Set<string>();
  openStreams = 0;
  over = false;

  constructor(private readonly plan: Plan) {
    this.definition = definitionOf(plan);
    this.handle = runDag({
      definition: this.definition,
      request: {},
      run: (context) => this.call(context),
      signal: this.caller.signal,
      deadline: plan.deadlineMs === undefined ? undefined : start + plan.deadlineMs,
      onEvent: (event) => this.note(event),
    });
    if (plan.cancelAtMs !== undefined) setTimeout(() => this.caller.abort(), plan.cancelAtMs);
  }

  /** Runs the clock until nothing is left to happen; gives the result, or the error that took its place. */
  async play(): Promise<{ value: unknown } | { error: unknown }> {
    const reading = this.readStream();
    const outcome = this.handle.result.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    await vi.runAllTimersAsync();
    await reading;
    await this.handle.settled;
    return outcome;
  }

  private async readStream(): Promise<void> {
    const { leaveAfter } = this.plan;
    try {
      for await (const chunk of this.handle.stream) {
        this.read.push(chunk);
        if (this.read.length === leaveAfter) break;
      }
    } catch {
      // The result rejects with the same error, which is what the properties look at.
    }
  }

  private note(event: RunEvent): void {
    this.events.push(event);
    if (event.type === 'stream-started') this.streaming.add(event.node);
    if (event.type !== 'node-settled') return;
    this.settled.set(event.node, event.state);
    if (event.state === 'failed' || event.state === 'cancelled')
      this.over ||= event.why?.includes('had read enough') !== true;
  }

  private call(context: NodeContext): Promise<unknown> | AsyncIterable<unknown> {
    const { node, attempt } = context;
    this.calls.push({ node, context, inputsReady: this.inputsReady(context), late: this.over });
    const deeds = this.plan.nodes[Number(node.slice(1))]?.deeds ?? [];
    const deed = deeds[(attempt - 1) % deeds.length];
    if (!deed) throw new Error('a node without deeds');
    if (deed.end === 'throw') throw new Error('thrown at once');
    if (deed.end === 'stream' || deed.end === 'break') return this.speak(deed, context);
    return this.act(deed, context);
  }

  private inputsReady({ node, service }: NodeContext): boolean {
    const before = this.definition.nodes.get(node)?.after ?? [];
    const streams = service === 'relay' ? this.streaming : new Set<string>();
    return before.every((name) => this.settled.has(name) || streams.has(name));
  }

  private async act(deed: Deed, context: NodeContext): Promise<unknown> {
    await pause(deed.end === 'hang' ? undefined : deed.afterMs, deed.deaf ? undefined : context.signal);
    if (deed.end === 'retryable') throw new MegaNestError('service_unavailable', { service: 'pass' });
    if (deed.end === 'fatal') throw new MegaNestError('invalid_request', { detail: 'no' });
    if (deed.end === 'cut') return { cut: true };
    if (deed.end === 'answer') return { cut: true, answer: 'verdict' };
    return `${context.node} after ${String(context.inputs.text)}`;
  }

  private async *speak(deed: Deed, context: NodeContext): AsyncGenerator<unknown> {
    this.openStreams++;
    try {
      const source = (context.inputs.text ?? []) as AsyncIterable<unknown>;
      for await (const chunk of context.service === 'relay' ? source : [0, 1, 2]) {
        await pause(deed.afterMs, deed.deaf ? undefined : context.signal);
        yield chunk;
        if (deed.end === 'break' && chunk === 1) throw new MegaNestError('service_unavailable');
      }
    } finally {
      this.openStreams--;
    }
  }
}

/** Waits, for ever without a time; without a signal nothing ends the wait before its time. */
function pause(delayMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = delayMs === undefined ? undefined : setTimeout(resolve, delayMs);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}

function mostAttempts({ retry, hedgeAfterMs, fallback }: NodeDefinition): number {
  return retry.attempts * (hedgeAfterMs === undefined ? 1 : 2) * (fallback ? 2 : 1);
}

const everything: Deed['end'][] = [
  'give',
  'give',
  'give',
  'give',
  'retryable',
  'fatal',
  'throw',
  'hang',
  'cut',
  'answer',
  'stream',
  'stream',
  'break',
];

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Plays random plans; a run that hangs for ever without a deadline is cancelled, as its caller would do. */
async function check(ends: Deed['end'][], property: (scenario: Scenario, outcome: object) => void) {
  await fc.assert(
    fc.asyncProperty(plan(ends), async (plan) => {
      vi.setSystemTime(start);
      const endless = plan.cancelAtMs === undefined && plan.deadlineMs === undefined;
      const scenario = new Scenario(endless ? { ...plan, cancelAtMs: 5000 } : plan);
      property(scenario, await scenario.play());
    }),
    { numRuns: 150 },
  );
}

describe('for random graphs, failures, delays, cancels and deadlines', () => {
  it('every attempt is made once, after the inputs are there, and none after a failure or cancel', async () => {
    await check(everything, ({ calls, definition }) => {
      const keys = calls.map(({ node, context }) => `${node} ${context.attempt}`);
      expect(new Set(keys).size).toBe(keys.length);
      for (const { node, inputsReady, late, context } of calls) {
        const known = definition.nodes.get(node);
        expect({ late, inputsReady }).toEqual({ late: false, inputsReady: true });
        expect(context.attempt).toBeLessThanOrEqual(known ? mostAttempts(known) : 0);
      }
    });
  });

  it('nothing is left: no timer, no listener, no open stream', async () => {
    await check(everything, ({ caller, openStreams, handle }) => {
      expect(vi.getTimerCount()).toBe(0);
      expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
      expect(openStreams).toBe(0);
      expect(handle.receipt().state).not.toBe('running');
    });
  });

  it('what a failed, cancelled or answered run leaves running has been told to stop', async () => {
    await check(everything, ({ calls, handle }) => {
      const ended = new Map(handle.receipt().nodes.map(({ node, state }) => [node, state]));
      for (const { node, context } of calls) {
        if (ended.get(node) === 'cancelled') expect(context.signal.aborted).toBe(true);
      }
    });
  });

  it('the receipt is complete and agrees with the calls and the result', async () => {
    await check(everything, ({ calls, events, handle, definition }, outcome) => {
      const { nodes, state } = handle.receipt();
      expect(state === 'ok').toBe('value' in outcome);
      expect(nodes.map(({ node }) => node)).toEqual([...definition.nodes.keys()]);
      const settlings = events.filter(({ type }) => type === 'node-settled').map(({ node }) => node);
      expect(settlings.toSorted((a, b) => a.localeCompare(b))).toEqual(nodes.map(({ node }) => node));
      for (const { node, state, why, startedAt, attempts, runMs } of nodes) {
        expect(['ok', 'skipped', 'failed', 'cancelled']).toContain(state);
        expect(attempts).toBe(calls.filter((call) => call.node === node).length);
        expect(startedAt !== undefined).toBe(attempts > 0);
        expect(state === 'ok' || why !== undefined).toBe(true);
        expect(runMs).toBeGreaterThanOrEqual(0);
      }
      expect(nodes.filter(({ state }) => state === 'failed').length).toBeLessThanOrEqual(1);
    });
  });

  it('errors have a code, and the stream holds what the result is made of', async () => {
    await check(everything, ({ read }, outcome) => {
      if ('error' in outcome) {
        expect(outcome.error).toBeInstanceOf(MegaNestError);
        return;
      }
      const { value } = outcome as { value: unknown };
      const answered = Array.isArray(value) && value[0] === 'verdict';
      if (answered) expect(read.at(-1)).toBe('verdict');
      else expect([value, [value]]).toContainEqual(read);
    });
  });

  it('timing does not matter where nothing depends on time', async () => {
    const timeless = plan(['give', 'retryable', 'cut', 'stream']).map((plan) => ({
      ...plan,
      relay: false,
      cancelAtMs: undefined,
      deadlineMs: undefined,
      leaveAfter: undefined,
      nodes: plan.nodes.map((node) => ({
        ...node,
        optional: true,
        needs: false,
        attempts: 1,
        timeoutMs: undefined,
        hedgeAfterMs: undefined,
      })),
    }));
    const at = (plan: Plan, delays: number[]) => ({
      ...plan,
      nodes: plan.nodes.map((node, index) => ({
        ...node,
        deeds: node.deeds.map((deed) => ({ ...deed, afterMs: delays[index % delays.length] ?? 0 })),
      })),
    });
    await fc.assert(
      fc.asyncProperty(timeless, fc.array(fc.nat(50), { minLength: 1 }), async (plan, delays) => {
        const first = new Scenario(at(plan, [0]));
        const second = new Scenario(at(plan, delays));
        const [one, two] = [await first.play(), await second.play()];
        // A root that fails has nothing to stand in for it; which of several failing roots is first is up to time.
        if ('error' in one || 'error' in two) expect('error' in one).toBe('error' in two);
        else expect([two, [...second.settled].toSorted()]).toEqual([one, [...first.settled].toSorted()]);
      }),
      { numRuns: 100 },
    );
  });
});
