import { describeRerankingModel } from '#platform/contracts';
import { modelService, runService } from '#platform/service-kit';
import { openReranker } from './open-reranker.js';
import { RerankingController } from './reranking.controller.js';
import { rerankingEnvironmentSchema } from './reranking.environment.js';
import { RerankingRpcController } from './reranking.rpc.controller.js';
import { RerankingService, rerankingSettings } from './reranking.service.js';

await runService(
  modelService({
    identity: {
      service: 'reranking',
      title: 'opea_service@reranking',
      description: 'Ranks passages by their relevance to a question.',
      // The specification repeats the text of its ASR page here.
      wrongMethodTexts: { '/v1/rag_reranking': 'The request of ASR fails.' },
    },
    environment: rerankingEnvironmentSchema,
    port: ({ RERANKING_PORT }) => RERANKING_PORT,
    loadsModel: true,
    open: openReranker,
    probe: (reranker, signal) => reranker.rerank('health', ['health'], { signal }),
    describe: describeRerankingModel,
    parts: (_environment, profile) => ({
      controllers: [RerankingController, RerankingRpcController],
      providers: [{ provide: rerankingSettings, useValue: profile.reranking }, RerankingService],
    }),
  }),
);
