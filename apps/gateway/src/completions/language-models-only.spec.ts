import type { HttpCall } from '#platform/service-kit';
import { describe, expect, it, vi } from 'vitest';
import type { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import type { ModelCatalog } from '../models/model-catalog.js';
import { LanguageModelsOnly } from './language-models-only.js';

const call = { requestId: 'r', deadline: Date.now() + 60_000 } as HttpCall;

function modelsWith(served: string) {
  const languageModels = vi.fn<() => Promise<{ id: string }[]>>(() => Promise.resolve([{ id: served }]));
  const models = {
    languageModels,
    resolve: (model: string) => Promise.resolve({ model, isNamed: true }),
    llm: () => Promise.resolve({ id: served }),
    llmNamed: () => Promise.resolve({ id: served }),
  } as unknown as ModelCatalog;
  const megaServices = { find: (name: string) => (name === 'chatqna' ? {} : undefined) };
  const environment = { MEGA_SERVICES_ONLY: false };
  return {
    languageModels,
    found: new LanguageModelsOnly(models, megaServices as MegaServiceCatalog, environment),
  };
}

describe('the language model of a request that no mega service can answer', () => {
  it.each([undefined, 'nano'])('is found without a list of all models (%s)', async (name) => {
    const { languageModels, found } = modelsWith('nano');
    expect(await found.find(name, call)).toEqual({ id: 'nano' });
    expect(languageModels).not.toHaveBeenCalled();
  });

  it.each(['chatqna', 'other'])('is not %s, and the error lists the models', async (name) => {
    const { found } = modelsWith('nano');
    await expect(found.find(name, call)).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('nano') as string,
    });
  });
});
