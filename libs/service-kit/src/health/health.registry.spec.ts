import { describe, expect, it, vi } from 'vitest';
import { HealthRegistry } from './health.registry.js';

function newRegistry(): HealthRegistry {
  return new HealthRegistry({ service: 'test', title: 'test', description: 'A test.' });
}

describe('HealthRegistry', () => {
  it('is healthy when every dependency answers', async () => {
    const registry = newRegistry();
    registry.register('model', async () => 'nano');
    registry.register('database', async () => {});
    expect(await registry.report()).toMatchObject({
      healthy: true,
      dependencies: [
        { name: 'model', healthy: true, detail: 'nano' },
        { name: 'database', healthy: true },
      ],
    });
  });

  it('says which dependency failed, and why', async () => {
    const registry = newRegistry();
    registry.register('model', async () => 'nano');
    registry.register('database', () => Promise.reject(new Error('connection refused')));
    const report = await registry.report();
    expect(report.healthy).toBe(false);
    expect(report.dependencies[1]).toMatchObject({
      name: 'database',
      healthy: false,
      detail: 'connection refused',
    });
  });

  it('does not wait for a dependency that hangs', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    const registry = newRegistry();
    registry.register('database', () => new Promise(() => {}));
    expect((await registry.report()).healthy).toBe(false);
  });
});
