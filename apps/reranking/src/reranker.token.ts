/** Injection token of the loaded model. */
export const rerankerToken = Symbol('reranker');
