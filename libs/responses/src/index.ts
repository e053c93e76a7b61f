export { newId, newItemId } from './ids.js';
export {
  isFinished,
  newResponse,
  type NewResponse,
  type ResponseObject,
  type ResponseSettings,
  type ResponseStatus,
  type ResponseUsage,
} from './response-object.js';
export {
  outputText,
  type FileCitation,
  type FileSearchCall,
  type FileSearchResult,
  type LogProb,
  type OutputItem,
  type OutputMessage,
  type OutputText,
} from './items/output-items.js';
export { inputItemSchema, inputSchema, type InputItem, type StoredItem } from './items/input-items.js';
export { toChatMessages, type Conversation } from './items/to-chat-messages.js';
export {
  createResponseSchema,
  includeSchema,
  type Include,
  type ResponseRequest,
} from './request/create-response.js';
export { metadataSchema, type Metadata } from './request/metadata.js';
export { isOutput, isTerminal, type ResponseEvent } from './log/events.js';
export { applyEvent, responseFromEvents } from './log/apply-event.js';
export { ResponseMachine } from './log/response-machine.js';
export { EventLog } from './log/event-log.js';
export { eventFrame, eventFrames } from './log/frames.js';
