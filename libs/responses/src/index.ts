export { newId, newItemId } from './ids.js';
export {
  isFinished,
  newResponse,
  type NewResponse,
  type ResponseObject,
  type ResponseSettings,
  type ResponseStatus,
  type ResponseTool,
  type ResponseToolChoice,
  type ResponseUsage,
  responseUsage,
} from './response-object.js';
export {
  outputText,
  type ClientCall,
  type Compaction,
  type CustomToolCall,
  type FileCitation,
  type FileSearchCall,
  type FileSearchResult,
  type FunctionCall,
  type LogProb,
  type McpApprovalRequest,
  type McpCall,
  type McpError,
  type McpListTools,
  type OutputItem,
  type OutputMessage,
  type OutputText,
  type ReasoningItem,
  type ServerItem,
} from './items/output-items.js';
export {
  assertCallsAnswered,
  inputItemSchema,
  inputSchema,
  withAdditionalTools,
  type InputItem,
  type StoredItem,
} from './items/input-items.js';
export { fileSearchResult } from './items/documents.js';
export { fileSearchSteps, type ShownSearch } from './log/server-item-writer.js';
export { describeImage, toChatMessages, type Conversation, type ImageUse } from './items/to-chat-messages.js';
export { inputFileOf, textOfTextFile, type GivenFile, type InputFile } from './items/read-input-file.js';
export {
  compactRequestSchema,
  createResponseSchema,
  ignoredCompactFields,
  includeSchema,
  metadataSchema,
  settingsWith,
  type CompactRequest,
  type Include,
  type Metadata,
  type ResponseRequest,
} from './request/create-response.js';
export { modelTools, type CallTarget, type ModelTools } from './tools/model-tools.js';
export { eventFrame, eventFrames, isOutput, isTerminal, type ResponseEvent } from './log/events.js';
export { applyEvent, responseFromEvents } from './log/apply-event.js';
export { type MachineStep, type ToolStep, type WorkPhase } from './log/log-writer.js';
export { errorEvent, ResponseMachine } from './log/response-machine.js';
export { EventLog } from './log/event-log.js';
export {
  compactedContextOf,
  compactionItem,
  expandCompactions,
  isUserMessage,
  openCalls,
  safeCuts,
  type CompactedContext,
} from './compaction/compacted-context.js';
export { NotSealedHereError, SealedTextTooLargeError, Sealer, type SealLabel } from './sealed/sealer.js';
