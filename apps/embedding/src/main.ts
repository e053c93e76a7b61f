import { describeEmbeddingModel } from '#platform/contracts';
import { modelService, runService } from '#platform/service-kit';
import { EmbeddingController } from './embedding.controller.js';
import { embeddingEnvironmentSchema } from './embedding.environment.js';
import { EmbeddingRpcController } from './embedding.rpc.controller.js';
import { EmbeddingService } from './embedding.service.js';
import { openEmbedder } from './open-embedder.js';

await runService(
  modelService({
    identity: {
      service: 'embedding',
      title: 'opea_service@embedding',
      description: 'Turns texts into vectors.',
      wrongMethodTexts: { '/v1/embeddings': 'The request of getting embedding vector fails.' },
    },
    environment: embeddingEnvironmentSchema,
    port: ({ EMBEDDING_PORT }) => EMBEDDING_PORT,
    loadsModel: true,
    open: openEmbedder,
    probe: (embedder, signal) => embedder.embed(['health'], { signal }),
    describe: describeEmbeddingModel,
    parts: () => ({
      controllers: [EmbeddingController, EmbeddingRpcController],
      providers: [EmbeddingService],
    }),
  }),
);
