import type { MegaServiceDefinition, NodeDefinition } from '#dag';
import { describe, expect, it } from 'vitest';
import { servicesOf } from './gateway-health.js';

type Node = Partial<Omit<NodeDefinition, 'target'>> & { target: Partial<NodeDefinition['target']> };

function definition(nodes: Record<string, Node>): MegaServiceDefinition {
  return { nodes: new Map(Object.entries(nodes)) } as unknown as MegaServiceDefinition;
}

describe('servicesOf', () => {
  it('are those that a mega service cannot do without, with those of the mega services in it', () => {
    const inner = definition({ search: { target: { service: 'retrieval' } } });
    const outer = definition({
      summary: { target: { service: 'llm.summarise' } },
      reranking: { target: { service: 'reranking' }, optional: true },
      asr: { target: { service: 'asr' }, fallback: { service: 'llm' } as NodeDefinition['fallback'] },
      inner: { target: { service: 'inner', megaService: inner } },
    });
    expect([...servicesOf(outer)].toSorted()).toEqual(['llm', 'retrieval']);
  });
});
