import { describe, expect, it, vi } from 'vitest';
import { HealthRegistry } from './health.registry.js';

const identity = { service: 'test', title: 'test', description: 'A test.' };

function newRegistry(): HealthRegistry {
  return new HealthRegistry(identity);
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

  it('asks once for all who ask at the same time, and again a little later', async () => {
    const check = vi.fn<() => Promise<void>>(async () => {});
    const registry = new HealthRegistry(identity, () => false, 20);
    registry.register('model', check);
    await Promise.all([registry.report(), registry.report()]);
    await registry.report();
    expect(check).toHaveBeenCalledTimes(1);
    await expect.poll(() => registry.report().then(() => check.mock.calls.length)).toBe(2);
  });

  it('is ready without what it can do without, but not when it is about to stop', async () => {
    let stopping = false;
    const registry = new HealthRegistry(identity, () => stopping);
    registry.register('asr', () => Promise.reject(new Error('away')), { required: false });
    expect(await registry.report()).toMatchObject({ healthy: false, ready: true });
    stopping = true;
    expect(await registry.report()).toMatchObject({ ready: false });
  });

  it('is not ready without what it needs', async () => {
    const registry = newRegistry();
    let needed = false;
    registry.register('llm', () => Promise.reject(new Error('away')), { required: () => needed });
    needed = true;
    expect(await registry.report()).toMatchObject({ ready: false });
  });
});
