import {
  assertServedModel,
  invalidField,
  maxQueryCharacters,
  rerank,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import type { Reranker } from '#engine/encoders';
import { Metrics, ServedModel, type Profile } from '#platform/service-kit';
import { firstWords } from '#platform/foundation';
import { Inject, Injectable } from '@nestjs/common';
import { rankByScore, rankFusion } from './rank-by-score.js';

/** The profile's settings of the reranker. */
type RerankingSettings = Profile['reranking'];

/** Injection token of the {@link RerankingSettings}. */
export const rerankingSettings = Symbol('rerankingSettings');

type RerankRequest = ParsedRequestOf<typeof rerank>;
type RerankReply = ReplyOf<typeof rerank>;

/** Ranks passages, for requests over HTTP and NATS. */
@Injectable()
export class RerankingService {
  constructor(
    @Inject(ServedModel) private readonly served: ServedModel<Reranker>,
    @Inject(rerankingSettings) private readonly settings: RerankingSettings,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** The name of the model. */
  get modelId(): string {
    return this.served.id;
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
      assertServedModel(request.model, this.served.id);
      const passages = truncate
        ? texts.map((text) => firstWords(text, this.settings.maxPassageWords))
        : texts;
      // Each pair reads the query; the model reads less of it.
      const read = truncate ? query.slice(0, maxQueryCharacters) : query;
      const { scores, promptTokens } = await this.served.model.rerank(read, passages, { truncate, signal });
      this.metrics.countTokens('prompt', promptTokens);
      const ranked = rankByScore(
        scores,
        rankFusion({ ...this.settings, fusion }, { query, passages, scores: searchScores }),
      );
      const results = ranked.slice(0, top_n).map((passage) => ({
        ...passage,
        relevance: scores[passage.index],
      }));
      return { model: this.served.id, results, promptTokens };
    });
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
