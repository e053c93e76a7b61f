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
export { inputItemSchema, inputSchema, type InputItem, type StoredItem } from './items/input-items.js';
export { fileSearchResult } from './items/documents.js';
export { fileSearchSteps, type ShownSearch } from './log/file-search-steps.js';
export { assertCallsAnswered } from './items/answered-calls.js';
export { describeImage } from './items/describe-image.js';
export { inputFileOf, textOfTextFile, type GivenFile, type InputFile } from './items/read-input-file.js';
export { withAdditionalTools } from './items/additional-tools.js';
export { toChatMessages, type Conversation, type ImageUse } from './items/to-chat-messages.js';
export {
  createResponseSchema,
  includeSchema,
  settingsWith,
  type Include,
  type ResponseRequest,
} from './request/create-response.js';
export { modelTools, type CallTarget, type ModelTools } from './tools/model-tools.js';
export { metadataSchema, type Metadata } from './request/create-response.js';
export { isOutput, isTerminal, type ResponseEvent } from './log/events.js';
export { applyEvent, responseFromEvents } from './log/apply-event.js';
export { type MachineStep, type ToolStep, type WorkPhase } from './log/machine-step.js';
export { ResponseMachine } from './log/response-machine.js';
export { EventLog } from './log/event-log.js';
export {
  compactedContextOf,
  compactionItem,
  expandCompactions,
  isUserMessage,
  type CompactedContext,
} from './compaction/compacted-context.js';
export { openCalls, safeCuts } from './compaction/safe-cuts.js';
export {
  compactRequestSchema,
  ignoredCompactFields,
  type CompactRequest,
} from './request/compact-request.js';
export { NotSealedHereError, SealedTextTooLargeError, Sealer, type SealLabel } from './sealed/sealer.js';
export { errorEvent } from './log/failure.js';
export { eventFrame, eventFrames } from './log/frames.js';
