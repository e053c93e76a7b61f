export { MegaNestError, type ErrorBody, type ErrorCode, type ErrorDetails } from './errors.js';
export { assertServedModel } from './served-model.js';
export { errorFromIssues, parseOrThrow } from './validation.js';
export {
  defineMethod,
  type ParsedRequestOf,
  type ReplyOf,
  type RequestOf,
  type RpcMethod,
} from './method.js';
export { decodeVector, decodeVectors, encodeVector, encodeVectors } from './vectors.js';
export {
  defaultCollection,
  metadataSchema,
  retrievedDocumentSchema,
  type ChunkMetadata,
  type RetrievedDocument,
} from './documents.js';
export {
  describeEmbeddingModel,
  embed,
  embeddingParametersSchema,
  modelInfoSchema,
  type EmbeddingParameters,
  type ModelInfo,
} from './embedding.js';
export {
  retrievalParametersSchema,
  retrieve,
  searchTypes,
  type RetrievalParameters,
  type SearchType,
} from './retrieval.js';
export {
  describeRerankingModel,
  rerank,
  rerankingParametersSchema,
  type RerankingParameters,
} from './reranking.js';
export {
  chatMessageSchema,
  citationSchema,
  countPromptTokens,
  describeLlmModel,
  generate,
  generationChunkSchema,
  generationParametersSchema,
  tokenLogprobSchema,
  usageSchema,
  type ChatMessage,
  type Citation,
  type GenerationChunk,
  type GenerationParameters,
  type TokenLogprob,
  type TokenUsage,
} from './llm.js';
export {
  cancelIngestJob,
  deleteDocuments,
  fileReferenceSchema,
  findIngestJob,
  ingest,
  ingestedDocumentSchema,
  ingestJobSchema,
  ingestParametersSchema,
  ingestProgressSchema,
  listCollections,
  listDocuments,
  startIngestJob,
  storedDocumentSchema,
  type FileReference,
  type IngestedDocument,
  type IngestJob,
  type IngestParameters,
  type IngestProgress,
  type StoredDocument,
} from './dataprep.js';
export {
  dependencyHealthSchema,
  healthMethod,
  serviceHealthSchema,
  type DependencyHealth,
  type ServiceHealth,
} from './health.js';
