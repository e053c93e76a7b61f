export {
  newId,
  newItemId,
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
  fileSearchResult,
} from './items/output-items.js';
export {
  assertCallsAnswered,
  inputItemSchema,
  inputSchema,
  withAdditionalTools,
  type InputItem,
  type StoredItem,
} from './items/input-items.js';
export { inputFileOf, textOfTextFile, type GivenFile, type InputFile } from './items/input-file.js';
export { fileSearchSteps, type ShownSearch } from './log/call-writer.js';
export { describeImage, toChatMessages, type Conversation, type ImageUse } from './items/to-chat-messages.js';
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
export { modelTools, type CallTarget, type ModelTools } from './tools/tools.js';
export { eventFrame, eventFrames, isOutput, isTerminal, type ResponseEvent } from './log/events.js';
export { applyEvent, responseFromEvents } from './log/apply-event.js';
export { type MachineStep, type ToolStep, type WorkPhase, EventLog } from './log/event-log.js';
export { errorEvent, ResponseMachine } from './log/response-machine.js';
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
