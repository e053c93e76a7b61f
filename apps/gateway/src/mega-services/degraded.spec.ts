import type { RunReceipt } from '#dag';
import { expect, it } from 'vitest';
import { degradedSteps } from './degraded.js';

type Node = RunReceipt['nodes'][number];

const receipt = (...nodes: (Pick<Node, 'node' | 'state'> & Partial<Node>)[]): RunReceipt => ({
  megaService: 'chatqna',
  state: 'ok',
  startedAt: 0,
  runMs: 1,
  nodes: nodes.map((node) => ({ service: 's', queuedMs: 0, runMs: 1, attempts: 1, ...node })),
});

it('names nodes that an error skipped, and no others', () => {
  const run = receipt(
    { node: 'embedding', state: 'ok', details: { model: 'm' } },
    { node: 'reranking', state: 'skipped', why: 'too late', code: 'deadline_exceeded' },
    { node: 'maybe', state: 'skipped', why: 'when: false' },
    { node: 'llm', state: 'failed', why: 'broken', code: 'internal_error' },
  );
  expect(degradedSteps(run)).toEqual([{ name: 'reranking', reason: 'deadline_exceeded' }]);
});

it('names what a node did without, and the nodes of a nested mega service', () => {
  const nested = receipt({ node: 'reranking', state: 'skipped', code: 'overloaded' });
  const run = receipt(
    { node: 'retrieval', state: 'ok', details: { degraded: { condensing: 'too_long' } } },
    { node: 'inner', state: 'ok', nested },
  );
  expect(degradedSteps(run)).toEqual([
    { name: 'condensing', reason: 'too_long' },
    { name: 'inner/reranking', reason: 'overloaded' },
  ]);
});
