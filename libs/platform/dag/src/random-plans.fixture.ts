import * as fc from 'fast-check';
import { z } from 'zod';
import { parseMegaService } from './definition/parse.js';
import { createServiceRegistry, type MegaServiceDefinition } from './definition/types.js';

/** Start of every random run. */
export const start = Date.parse('2026-11-20T12:00:00Z');
const text = { kind: 'text' };

/** The input of `pass` can replace its output, `need` requires its input, and `relay` reads it as a stream. */
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

/** Outcome of one attempt of a node, and its delay in milliseconds. */
export interface Deed {
  afterMs: number;
  end: 'give' | 'retryable' | 'fatal' | 'throw' | 'hang' | 'cut' | 'answer' | 'stream' | 'break';
  /** The attempt ignores its signal. */
  deaf: boolean;
}

export interface Plan {
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
  /** The last node reads its predecessor as a stream. */
  relay: boolean;
  cancelAtMs: number | undefined;
  deadlineMs: number | undefined;
  /** Number of chunks after which the consumer leaves; undefined: never. */
  leaveAfter: number | undefined;
}

const deed = (ends: Deed['end'][]) =>
  fc.record({ afterMs: fc.integer({ min: 0, max: 60 }), end: fc.constantFrom(...ends), deaf: fc.boolean() });

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

/** Generates plans of one to nine nodes with these outcomes of attempts. */
export function planOf(ends: Deed['end'][]): fc.Arbitrary<Plan> {
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

/** Returns the definition of a plan: node i follows some of the previous nodes; the last one answers. */
export function definitionOf({ nodes, relay }: Plan): MegaServiceDefinition {
  const last = nodes.length - 1;
  const sources = nodes.map((node, index) => {
    const relays = relay && index === last && index > 0;
    const wanted = relays ? [last - 1] : node.after;
    const after = index === 0 ? [] : [...new Set(wanted.map((before) => before % index))];
    const [feeding] = after;
    const hedged = node.hedgeAfterMs !== undefined && node.hedgeAfterMs < (node.timeoutMs ?? Infinity);
    const needs = node.needs && feeding !== undefined;
    return {
      service: relays ? 'relay' : needs ? 'need' : 'pass',
      after: after.map((before) => `n${before}`),
      ...(feeding !== undefined && { inputs: { text: `n${feeding}` } }),
      optional: node.optional && (relays || (!needs && feeding !== undefined)),
      ...(node.timeoutMs !== undefined && { timeoutMs: node.timeoutMs }),
      retry: { attempts: node.attempts, backoffMs: 5 },
      ...(hedged && { hedgeAfterMs: node.hedgeAfterMs }),
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
