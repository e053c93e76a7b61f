import { resolve } from 'node:path';
import { loadGenerator, type Generator } from '#inference';
import type { Profile } from '#service-kit';
import type { LlmEnvironment } from './llm.environment.js';

/** Loads the configured model. Errors: says which model could not be loaded, and why. */
export function openGenerator(environment: LlmEnvironment, profile: Profile): Promise<Generator> {
  return loadGenerator(environment.LLM_MODEL_ID ?? profile.llm.model, {
    cacheDirectory: resolve(environment.MEGANEST_DATA_DIR, 'models'),
    allowHub: profile.allowHub,
    device: environment.DEVICE,
  });
}
