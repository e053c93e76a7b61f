import { z } from 'zod';
import { parseMegaService } from './definition/parse.js';
import { createServiceRegistry, type ServiceKind, type MegaServiceDefinition } from './definition/types.js';
import { runDag } from './engine/dag-run.js';
import type { NodeContext, RunHandle, RunOptions } from './engine/types.js';

/** Services of the tests: like the real ones, and joins, guards and text steps. */
const kinds: ServiceKind[] = [
  {
    service: 'embedding',
    inputs: {},
    output: 'embedding',
    parameters: z.object({ dimensions: z.int().min(1).optional() }),
  },
  {
    service: 'retrieval',
    inputs: { embedding: { kind: 'embedding', optional: true } },
    output: 'documents',
    parameters: z.object({
      k: z.int().min(0).max(200).default(4).describe('Passages to return'),
      search_type: z.enum(['similarity', 'hybrid']).optional(),
    }),
  },
  {
    service: 'reranking',
    inputs: { documents: { kind: 'documents' } },
    output: 'documents',
    parameters: z.object({ top_n: z.int().min(1).optional() }),
    passThrough: 'documents',
    whenSkipped: (documents, { top_n }) =>
      Array.isArray(documents) && typeof top_n === 'number' ? documents.slice(0, top_n) : documents,
  },
  {
    service: 'llm',
    inputs: { documents: { kind: 'documents', optional: true } },
    output: 'answer',
    parameters: z.object({
      max_tokens: z.int().min(1).optional(),
      stop: z.union([z.string(), z.array(z.string())]).optional(),
      model: z.string().optional(),
      echo: z.boolean().optional(),
      suffix: z.string().optional(),
    }),
    unjudged: ['suffix'],
    streaming: true,
  },
  {
    service: 'reranked',
    inputs: {},
    output: 'documents',
    parameters: z.object({ k: z.int().optional(), top_n: z.int().optional(), depth: z.int().optional() }),
  },
  {
    service: 'fusion',
    inputs: { first: { kind: 'documents' }, second: { kind: 'documents' } },
    output: 'documents',
    parameters: z.object({}),
  },
  {
    service: 'sentence-guard',
    inputs: { sentences: { kind: 'answer', stream: 'sentences' } },
    output: 'answer',
    parameters: z.object({}),
    passThrough: 'sentences',
    streaming: true,
  },
  { service: 'judge', inputs: {}, output: 'text', parameters: z.object({}), judges: true },
  { service: 'guard', inputs: {}, output: 'verdict', parameters: z.object({}) },
  { service: 'step', inputs: {}, output: 'text', parameters: z.object({ size: z.int().optional() }) },
];

export const registry = createServiceRegistry(kinds);

/** Parses a definition from the lines of its `nodes`. */
export function define(...nodes: string[]): MegaServiceDefinition {
  return parse(`nodes:\n${nodes.map((node) => `  ${node}`).join('\n')}`);
}

/** Parses a definition from YAML without name and description. */
export function parse(yaml: string, file = 'test.yaml'): MegaServiceDefinition {
  return parseMegaService(`name: test\ndescription: A test.\n${yaml}`, file, { registry });
}

/** Behavior of each node of a test, by name; a node without an entry returns `<node>'s output`. */
export type Behaviors = Record<string, (context: NodeContext) => unknown>;

/** Runs a definition with fake services; the handle also has the contexts of all calls. */
export function runWith(
  definition: MegaServiceDefinition,
  behaviors: Behaviors = {},
  options: Partial<RunOptions> = {},
): RunHandle & { calls: NodeContext[] } {
  const calls: NodeContext[] = [];
  const run = (context: NodeContext) => {
    calls.push(context);
    const behave = behaviors[context.node] ?? (() => `${context.node}'s output`);
    return behave(context) as Promise<unknown>;
  };
  const handle = runDag({ definition, request: {}, run, ...options });
  return Object.assign(handle, { calls });
}

/** Returns state and reason of each node, in topological order. */
export function statesOf(handle: RunHandle): Record<string, string> {
  return Object.fromEntries(handle.receipt().nodes.map(({ node, state }) => [node, state]));
}

/** Reads all chunks of a stream. */
export async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** A service that hangs until the signal aborts. */
export function hang({ signal }: NodeContext): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** A service that returns a value after a delay, unless it is aborted. */
export function after(delayMs: number, value: unknown) {
  return ({ signal }: NodeContext) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(value), delayMs);
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', stop, { once: true });
    });
}
