import { services as programs } from '#platform/local-stack';
import type { MegaServiceDefinition, NodeDefinition } from '#platform/dag';
import { HealthRegistry } from '#platform/service-kit';
import { describe, expect, it } from 'vitest';
import { GatewayHealth, neededServices } from './gateway-health.js';

type Node = Partial<Omit<NodeDefinition, 'target'>> & { target: Partial<NodeDefinition['target']> };

function definition(nodes: Record<string, Node>): MegaServiceDefinition {
  return { nodes: new Map(Object.entries(nodes)) } as unknown as MegaServiceDefinition;
}

const services = programs.map(({ name }) => name);

describe('neededServices', () => {
  it('are those that a mega service cannot do without, with those of the mega services in it', () => {
    const inner = definition({ search: { target: { service: 'retrieval' } } });
    const outer = definition({
      summary: { target: { service: 'llm.summarize' } },
      reranking: { target: { service: 'reranking' }, optional: true },
      asr: { target: { service: 'asr' }, fallback: { service: 'llm' } as NodeDefinition['fallback'] },
      inner: { target: { service: 'inner', megaService: inner } },
    });
    expect([...neededServices(outer)].toSorted()).toEqual(['llm', 'retrieval']);
  });
});

describe('GatewayHealth', () => {
  const search = definition({ retrieval: { target: { service: 'retrieval' } } });
  const noDefault = definition({});
  const loud = definition({ answer: { target: { service: 'megaphone' } } });

  /**
   * The gateway's health while one service does not answer. The running announced services have no health method.
   */
  function reportWithout(
    absent: string,
    running: string[] = [],
    standard: MegaServiceDefinition | undefined = search,
    invalidFiles: string[] = [],
  ) {
    const registry = new HealthRegistry({ service: 'gateway', title: 'gateway', description: 'A test.' });
    const health = (service: string) => {
      if (service === absent) return Promise.reject(new Error('no instance is running'));
      return Promise.resolve(running.includes(service) ? undefined : { healthy: true, dependencies: [] });
    };
    const parts = [
      registry,
      { ping: () => Promise.resolve(1) },
      {
        default: () => standard,
        hasDefault: () => standard !== noDefault,
        list: () => [search, loud],
        invalidFiles: () => invalidFiles,
      },
      { running, health },
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
    const names = report.dependencies.map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      [...services.filter((name) => name !== 'gateway'), 'megaphone', 'nats'].toSorted(),
    );
    expect(report.dependencies.filter(({ healthy }) => !healthy).map(({ name }) => name)).toEqual(['asr']);
  });

  it('is not ready without one that it needs', async () => {
    expect(await reportWithout('retrieval')).toMatchObject({ healthy: false, ready: false });
  });

  it('shows a service that announced itself', async () => {
    expect(await reportWithout('none', ['filter'])).toMatchObject({ healthy: true });
    const report = await reportWithout('filter', ['filter']);
    expect(report).toMatchObject({ healthy: false, ready: true });
  });

  it('needs an announced service that its default mega service names', async () => {
    expect(await reportWithout('megaphone', [], loud)).toMatchObject({ healthy: false, ready: false });
    expect(await reportWithout('none', ['megaphone'], loud)).toMatchObject({ healthy: true, ready: true });
  });

  it('names a mega service that is not valid, and is ready without it', async () => {
    const report = await reportWithout('none', [], search, ['a.yaml: Unresolved alias: x']);
    expect(report).toMatchObject({ healthy: false, ready: true });
    const named = report.dependencies.find(({ name }) => name === 'megaservices');
    expect(named?.detail).toContain('a.yaml: Unresolved alias: x');
  });

  it('is not ready while its default mega service is not valid', async () => {
    const report = await reportWithout('none', [], noDefault, ['chatqna.yaml: nodes: Required']);
    expect(report).toMatchObject({ healthy: false, ready: false });
  });
});
