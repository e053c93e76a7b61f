import {
  assertServedModel,
  invalidField,
  maxQueryCharacters,
  rerank,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { loadReranker, type Reranker } from '#engine/encoders';
import { openRemoteReranker } from '#engine/remote-engines';
import {
  announceModel,
  baseEnvironmentSchema,
  chosenWeights,
  HealthRegistry,
  Metrics,
  modelOptions,
  portSchema,
  weightsSchema,
  type Profile,
} from '#platform/service-kit';
import { firstWords } from '#platform/foundation';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { z } from 'zod';
import { rankByScore, rankFusion } from './rank-by-score.js';

export const rerankingEnvironmentSchema = baseEnvironmentSchema.extend({
  RERANKING_PORT: portSchema.default(8000),
  /** A bundled name, a local directory or a hub id; default: the profile's model. */
  RERANK_MODEL_ID: z.string().optional(),
  /** Precision of the weights of a local model. */
  RERANKING_WEIGHTS: weightsSchema,
  /** A Text Embeddings Inference server to use in place of a local model. */
  TEI_RERANKING_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type RerankingEnvironment = z.infer<typeof rerankingEnvironmentSchema>;

/** The profile's settings of the reranker. */
type RerankingSettings = Profile['reranking'];

/** Injection token of the {@link RerankingSettings}. */
export const rerankingSettings = Symbol('rerankingSettings');

/** Injection token of the loaded model. */
export const rerankerToken = Symbol('reranker');

/** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
export async function openReranker(environment: RerankingEnvironment, profile: Profile): Promise<Reranker> {
  const { TEI_RERANKING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  const compiledWeights = chosenWeights('RERANKING_WEIGHTS', environment.RERANKING_WEIGHTS, {
    endpoint,
    device: environment.DEVICE,
  });
  if (endpoint) return openRemoteReranker({ endpoint, apiKey });
  return announceModel(
    await loadReranker(environment.RERANK_MODEL_ID ?? profile.reranking.model, {
      ...modelOptions(environment, profile, environment.RERANK_MODEL_ID),
      compiledWeights,
    }),
  );
}

type RerankRequest = ParsedRequestOf<typeof rerank>;
type RerankReply = ReplyOf<typeof rerank>;

/** Ranks passages, for requests over HTTP and NATS. */
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
   * Ranks passages, best first. The profile sets the parameters that the request leaves out. Errors: model_not_found;
   * overloaded; context_length_exceeded with `truncate: false`; invalid_request for missing scores.
   */
  rerank(request: RerankRequest, signal: AbortSignal): Promise<RerankReply> {
    const { query, texts, truncate = true, top_n = this.settings.topN } = request;
    const { fusion = this.settings.fusion, scores: searchScores } = request;
    assertScores(request);
    return this.metrics.measure('rerank', async () => {
      assertServedModel(request.model, this.reranker.info.id);
      const passages = truncate
        ? texts.map((text) => firstWords(text, this.settings.maxPassageWords))
        : texts;
      // Each pair reads the query; the model reads less of it.
      const read = truncate ? query.slice(0, maxQueryCharacters) : query;
      const { scores, promptTokens } = await this.reranker.rerank(read, passages, { truncate, signal });
      this.metrics.countTokens('prompt', promptTokens);
      const ranked = rankByScore(
        scores,
        rankFusion({ ...this.settings, fusion }, { query, passages, scores: searchScores }),
      );
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

/** Refuses a request for a fusion by scores without scores. The profile's fusion is left out in this case. */
function assertScores({ fusion, texts, scores }: RerankRequest): void {
  if (scores && scores.length !== texts.length)
    throw invalidField(
      'scores',
      `must have one score for each text; there are ${scores.length} scores for ${texts.length} texts`,
    );
  if (fusion === 'scores' && !scores) throw invalidField('scores', 'is required for fusion "scores"');
}
