import { assertServedModel, rerank, type ModelInfo, type ParsedRequestOf, type ReplyOf } from '#contracts';
import { HealthRegistry, Metrics } from '#service-kit';
import { firstWords } from '#text';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Reranker } from '#encoders';
import { rankByScore } from './rank-by-score.js';
import { rerankerToken } from './open-reranker.js';
import { rerankingSettings, type RerankingSettings } from './reranking.environment.js';

type RerankRequest = ParsedRequestOf<typeof rerank>;
type RerankReply = ReplyOf<typeof rerank>;

/** Orders passages; both the HTTP and the NATS side go through it. */
@Injectable()
export class RerankingService implements OnApplicationShutdown {
  constructor(
    @Inject(rerankerToken) private readonly reranker: Reranker,
    @Inject(rerankingSettings) private readonly settings: RerankingSettings,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('model', async (signal) => {
      await this.reranker.rerank('health', ['health'], { signal });
      return this.reranker.info.id;
    });
  }

  get model(): ModelInfo {
    return this.reranker.info;
  }

  /**
   * Best first; parameters that the request leaves out are the profile's. Errors: model_not_found, overloaded,
   * context_length_exceeded where the request does not want its passages cut.
   */
  rerank(request: RerankRequest, signal: AbortSignal): Promise<RerankReply> {
    const { fusion: profileFusion, fusionWeight: weight, fusionConstant: constant, topN } = this.settings;
    const { query, texts, truncate = true, fusion = profileFusion, top_n = topN } = request;
    return this.metrics.measure('rerank', async () => {
      assertServedModel(request.model, this.reranker.info.id);
      const passages = truncate
        ? texts.map((text) => firstWords(text, this.settings.maxPassageWords))
        : texts;
      const { scores, promptTokens } = await this.reranker.rerank(query, passages, { truncate, signal });
      this.metrics.countTokens('prompt', promptTokens);
      const ranked = rankByScore(scores, fusion === 'rrf' ? { weight, constant } : undefined);
      const results = ranked.slice(0, top_n).map((passage) => ({
        ...passage,
        relevance: scores[passage.index],
      }));
      return { model: this.reranker.info.id, results, promptTokens };
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.reranker.close();
  }
}
