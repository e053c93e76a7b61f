import type { HttpCall } from '#platform/service-kit';
import { describe, expect, it } from 'vitest';
import type { GatewayEnvironment } from '../config/gateway.environment.js';
import { ChatService } from './chat.service.js';

describe('ChatService', () => {
  /** With a language model and no mega service. */
  function service(environment: Partial<GatewayEnvironment>) {
    const megaServices = { find: () => undefined, default: () => undefined, list: () => [] };
    const info = { id: 'nano-chat', maxInputTokens: 10 };
    const models = {
      named: (name: string) => Promise.resolve(name),
      llm: () => Promise.resolve(info),
      llmNamed: () => Promise.resolve(info),
    };
    const opened = { open: () => ({ isMegaService: false }) };
    const parts = [megaServices, {}, models, opened, environment];
    return new ChatService(...(parts as unknown as ConstructorParameters<typeof ChatService>));
  }

  const request = { model: 'nano-chat', messages: [], parameters: {}, includeUsage: false, extra: {} };

  it('serves the language model itself', async () => {
    const model = await service({ MEGA_SERVICES_ONLY: false }).open(request, {} as HttpCall);
    expect(model.isMegaService).toBe(false);
  });

  it('serves mega services alone where the operator says so', async () => {
    const model = service({ MEGA_SERVICES_ONLY: true }).open(request, {} as HttpCall);
    await expect(model).rejects.toMatchObject({ code: 'model_not_found', param: 'model' });
  });
});
