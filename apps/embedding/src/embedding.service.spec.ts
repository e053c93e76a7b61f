import type { EmbedOptions, Embedder } from '#engine/encoders';
import { Metrics, ServedModel } from '#platform/service-kit';
import { expect, it } from 'vitest';
import { EmbeddingService } from './embedding.service.js';

it('embeds many inputs as bulk work, which a query overtakes', async () => {
  const priorities: EmbedOptions['priority'][] = [];
  const embedder: Embedder = {
    info: { id: 'one', revision: '1', backend: 'none', maxInputTokens: 8, created: 0, dimensions: 1 },
    embed: (inputs, options) => {
      priorities.push(options?.priority);
      return Promise.resolve({ vectors: inputs.map(() => Float32Array.of(1)), promptTokens: inputs.length });
    },
    close: () => Promise.resolve(),
  };
  const service = new EmbeddingService(
    new ServedModel(embedder, ({ info }) => info),
    new Metrics('embedding'),
  );
  const { signal } = new AbortController();
  await service.embed({ inputs: ['a question'] }, { signal });
  await service.embed({ inputs: ['a text of an ingest'] }, { signal, priority: 'bulk' });
  await service.embed({ inputs: Array.from({ length: 33 }, () => 'a text') }, { signal });
  expect(priorities).toEqual(['interactive', 'bulk', 'bulk']);
});
