export {
  errorFromIssues,
  invalidField,
  MegaNestError,
  parseOrThrow,
  type ErrorBody,
  type ErrorCode,
  type ErrorDetails,
} from './errors.js';
export { ImageBudget, maxImages } from './image-budget.js';
export { recordSpans, startSpan, type RunningSpan } from './running-span.js';
export { templateVariablesSchema, type TemplateVariables } from './template-variables.js';
export {
  assertServedModel,
  defineMethod,
  type ParsedRequestOf,
  type ReplyOf,
  type RequestOf,
  type RpcMethod,
} from './services/method.js';
export { toJsonSchema, type JsonSchema } from './json-schema.js';
export {
  defineNode,
  nodeAnnouncementSchema,
  nodeMetadataKey,
  nodeReplySchema,
  nodeRequestSchema,
  type NodeAnnouncement,
  type NodeReply,
} from './services/node-service.js';
export { decodeVector, decodeVectors, encodeVector, encodeVectors } from './vectors.js';
export {
  attributeFilterSchema,
  metadataFilterSchema,
  type AttributeFilter,
  type ComparisonFilter,
  type CompoundFilter,
  type MetadataFilter,
} from './attribute-filter.js';
export {
  defaultCollection,
  isVectorStore,
  metadataSchema,
  pageOfQuote,
  retrievedDocumentSchema,
  type ChunkMetadata,
  type RetrievedDocument,
} from './documents.js';
export type { Timeline, TimelinePoint } from './timeline.js';
export { nameSchema } from './names.js';
export {
  describeEmbeddingModel,
  embed,
  embeddingParametersSchema,
  modelInfoSchema,
  type EmbeddingParameters,
  type ModelInfo,
} from './services/embedding.js';
export {
  retrievalParametersSchema,
  retrieve,
  searchTypes,
  type RetrievalParameters,
  type SearchType,
} from './services/retrieval.js';
export {
  describeRerankingModel,
  rerank,
  rerankingParametersSchema,
  type RerankingParameters,
} from './services/reranking.js';
export {
  chatMessageSchema,
  citationSchema,
  countPromptTokens,
  describeLlmModel,
  generate,
  generationChunkSchema,
  generationParametersSchema,
  outputConstraintSchema,
  tokenLogprobSchema,
  toolCallDeltaSchema,
  toolCallSchema,
  toolChoiceSchema,
  toolSchema,
  usageSchema,
  type ChatMessage,
  type Citation,
  type GenerationChunk,
  type GenerationParameters,
  samplingParameters,
  type OutputConstraint,
  type RequestLabels,
  type TokenLogprob,
  type Tool,
  type ToolCall,
  type ToolCallDelta,
  type ToolChoice,
  type TokenUsage,
} from './services/llm.js';
export { Patience } from './patience.js';
export { joinPieces, piecesOf, type ContentPiece } from './content-pieces.js';
export {
  cancelIngestJob,
  deleteDocuments,
  documentChunksSchema,
  extract,
  failedDocumentSchema,
  fileReferenceSchema,
  findIngestJob,
  ingest,
  ingestJobSchema,
  ingestParametersSchema,
  ingestProgressSchema,
  ingestedDocumentSchema,
  linkSchema,
  listCollections,
  listDocuments,
  maxExtractedCharacters,
  mostListedDocuments,
  pauseIngestJob,
  readChunks,
  resumeIngestJob,
  startIngestJob,
  storedDocumentSchema,
  type DocumentChunks,
  type StoredChunk,
  type ExtractedText,
  type FileReference,
  type IngestedDocument,
  type IngestJob,
  type IngestParameters,
  type FailedDocument,
  type IngestProgress,
  type StoredDocument,
} from './services/dataprep.js';
export {
  findReceipts,
  statisticsMethod,
  type LatencyDigest,
  type OperationDigest,
} from './services/cluster.js';
export {
  dependencyHealthSchema,
  healthMethod,
  modelDownloadSchema,
  type ModelDownload,
  serviceHealthSchema,
  type DependencyHealth,
  type ServiceHealth,
} from './services/health.js';
export {
  guardrailJudgementSchema,
  guardrailActions,
  guardrailFindingSchema,
  judge,
  maxJudgedCharacters,
  type GuardrailFinding,
  type GuardrailJudgement,
} from './services/guardrail.js';
export {
  condense,
  faqParametersSchema,
  summarise,
  summaryParametersSchema,
  summaryTypes,
  writeFaq,
  type SummaryType,
} from './services/writing.js';
export {
  describeAsrModel,
  transcribe,
  transcriptChunkSchema,
  transcriptionParametersSchema,
  transcriptSegmentSchema,
  type TranscriptChunk,
  type TranscriptionParameters,
  type TranscriptSegment,
} from './services/asr.js';
export {
  describeTtsModel,
  maxSpeechCharacters,
  speechChunkSchema,
  speechFormats,
  speechParametersSchema,
  synthesize,
  ttsInfoSchema,
  type SpeechChunk,
  type SpeechFormat,
  type SpeechParameters,
  type TtsInfo,
} from './services/tts.js';
