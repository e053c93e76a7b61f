export { citationAnnotations, type CitationAnnotation } from './annotations.js';
export {
  chatCompletionChunkSchema,
  chatCompletionSchema,
  embeddingResponseSchema,
  modelCatalogueSchema,
  modelListSchema,
  modelSchema,
  rerankResponseSchema,
} from './answers.js';
export { type CompletionToolCall, type ToolCallPiece } from './chat-calls.js';
export { callableTools, chatToolParam } from './chat-tools.js';
export { messagesSchema, toChatMessages, wireMessage } from './chat-messages.js';
export {
  chatCompletionRequestSchema,
  ignoredFields,
  unusedLabels,
  type ChatCompletionRequest,
} from './chat-request.js';
export {
  chatCompletionFrames,
  collectChatCompletion,
  usageObject,
  type ChatCompletion,
  type ChatCompletionChoice,
  type ChatCompletionChunk,
  type CompletionIdentity,
  type CompletionUsage,
  type SpokenChunk,
} from './chat-response.js';
export {
  embeddingRequestSchema,
  embeddingResponse,
  type EmbeddingRequest,
  type EmbeddingResponse,
} from './embeddings.js';
export { codexModel } from './codex-models.js';
export { modelList, modelObject, type Model } from './models.js';
export { dataFrame, doneFrame, errorFrame } from './server-sent-events.js';
export {
  rerankCall,
  rerankQuerySchema,
  rerankRequestSchema,
  rerankResponse,
  type RerankRequest,
  type RerankResponse,
} from './reranking.js';
export {
  plainRerankRequestSchema,
  teiRerankAnswerSchema,
  teiRerankCall,
  teiRerankRequestSchema,
  teiRerankResponse,
  type PlainRerankRequest,
} from './tei-reranking.js';
export { pollAfter } from './poll-after.js';
export { namingToolParams } from './tool-params.js';
