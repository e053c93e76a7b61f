export {
  citationAnnotations,
  type CitationAnnotation,
  chatCompletionChunkSchema,
  chatCompletionSchema,
  type CompletionToolCall,
  type ToolCallPiece,
  GatheredCalls,
} from './chat-answers.js';
export { callableTools } from './chat-tools.js';
export { littleEffort, planThinking } from './thinking.js';
export { renamingErrors } from './renaming-errors.js';
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
  embeddingResponseSchema,
  type EmbeddingRequest,
  type EmbeddingResponse,
} from './embeddings.js';
export { listOf, listSchemaOf, pageShape } from './lists.js';
export {
  capabilityFields,
  codexModel,
  modelCatalogSchema,
  modelList,
  modelListSchema,
  modelObject,
  modelSchema,
  type Model,
} from './models.js';
export { chatTools, chatToolsSchema } from './chat-tools.js';
export { outputConstraint, outputFormatSchema } from './output-format.js';
export { dataFrame, doneFrame, errorFrame, pollAfter } from './http-answers.js';
export {
  plainRerankOperation,
  plainRerankSchema,
  rerankCall,
  rerankQuerySchema,
  checkLength,
  rerankRequestSchema,
  rerankResponse,
  rerankResponseSchema,
  teiRerankCall,
  teiRerankResponse,
  type PlainRerankRequest,
  type RerankRequest,
  type RerankResponse,
} from './reranking.js';
