import type { MegaServiceDefinition, NodeDefinition } from '#dag';
import { HealthRegistry } from '#service-kit';
import { describe, expect, it } from 'vitest';
import { GatewayHealth, servicesOf } from './gateway-health.js';

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

describe('GatewayHealth', () => {
  const search = definition({ retrieval: { target: { service: 'retrieval' } } });

  /** The gateway's health while one service does not answer. */
  function reportWithout(absent: string) {
    const registry = new HealthRegistry({ service: 'gateway', title: 'gateway', description: 'A test.' });
    const request = ({ service }: { service: string }) =>
      service === absent
        ? Promise.reject(new Error('no instance is running'))
        : Promise.resolve({ healthy: true, dependencies: [] });
    const parts = [
      registry,
      { ping: () => Promise.resolve(1) },
      { request },
      { default: () => search },
      { HF_HUB_CACHE: '/nowhere' },
    ];
    expect(
      new GatewayHealth(...(parts as unknown as ConstructorParameters<typeof GatewayHealth>)),
    ).toBeDefined();
    return registry.report();
  }

  it('is ready without a service that its default mega service does not need', async () => {
    const report = await reportWithout('asr');
    expect(report).toMatchObject({ healthy: false, ready: true });
    expect(report.dependencies.filter(({ healthy }) => !healthy).map(({ name }) => name)).toEqual(['asr']);
  });

  it('is not ready without one that it needs', async () => {
    expect(await reportWithout('retrieval')).toMatchObject({ healthy: false, ready: false });
  });
});
