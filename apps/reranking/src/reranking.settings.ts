import type { Profile } from '#service-kit';

/** What the profile says about its reranker. */
export type RerankingSettings = Profile['reranking'];

/** Injection token of the {@link RerankingSettings}. */
export const rerankingSettings = Symbol('rerankingSettings');
