import { vi } from 'vitest';

/**
 * Runs before each spec file. Spec files share processes, so that each process loads the packages and starts databases
 * once. A file still begins with modules of its own, real timers and the environment variables that the process started
 * with.
 */
const shared = globalThis as { environmentAtStart?: NodeJS.ProcessEnv };
shared.environmentAtStart ??= { ...process.env };
for (const name of Object.keys(process.env)) delete process.env[name];
Object.assign(process.env, shared.environmentAtStart);
vi.useRealTimers();
vi.unstubAllEnvs();
vi.unstubAllGlobals();
vi.resetModules();
