import type { FileCitation, LogProb, OutputItem, OutputRefusal, OutputText } from '../items/output-items.js';
import type { ResponseObject } from '../response-object.js';

interface Numbered {
  /** From 0, without gaps. */
  sequence_number: number;
}

export type LifecycleType =
  | 'response.created'
  | 'response.queued'
  | 'response.in_progress'
  | 'response.completed'
  | 'response.incomplete'
  | 'response.failed';

/** Has the whole response at that moment. */
export interface LifecycleEvent extends Numbered {
  type: LifecycleType;
  response: ResponseObject;
}

export interface ItemEvent extends Numbered {
  type: 'response.output_item.added' | 'response.output_item.done';
  output_index: number;
  item: OutputItem;
}

/** The position in the response that the event concerns. */
interface PartPosition extends Numbered {
  item_id: string;
  output_index: number;
  content_index: number;
}

export interface PartEvent extends PartPosition {
  type: 'response.content_part.added' | 'response.content_part.done';
  part: OutputText | OutputRefusal;
}

export interface TextDeltaEvent extends PartPosition {
  type: 'response.output_text.delta';
  delta: string;
  logprobs: LogProb[];
}

export interface TextDoneEvent extends PartPosition {
  type: 'response.output_text.done';
  text: string;
  logprobs: LogProb[];
}

export interface RefusalDeltaEvent extends PartPosition {
  type: 'response.refusal.delta';
  delta: string;
}

export interface RefusalDoneEvent extends PartPosition {
  type: 'response.refusal.done';
  refusal: string;
}

export interface AnnotationEvent extends PartPosition {
  type: 'response.output_text.annotation.added';
  annotation_index: number;
  annotation: FileCitation;
}

/** The item of the output that the event concerns. */
interface ItemPosition extends Numbered {
  item_id: string;
  output_index: number;
}

/** A step of the server's own work. */
export interface ServerWorkEvent extends ItemPosition {
  type:
    | 'response.file_search_call.in_progress'
    | 'response.file_search_call.searching'
    | 'response.file_search_call.completed'
    | 'response.mcp_list_tools.in_progress'
    | 'response.mcp_list_tools.completed'
    | 'response.mcp_list_tools.failed'
    | 'response.mcp_call.in_progress'
    | 'response.mcp_call.completed'
    | 'response.mcp_call.failed';
}

export interface CallDeltaEvent extends ItemPosition {
  type:
    | 'response.function_call_arguments.delta'
    | 'response.custom_tool_call_input.delta'
    | 'response.mcp_call_arguments.delta';
  delta: string;
}

export interface FunctionArgumentsDoneEvent extends ItemPosition {
  type: 'response.function_call_arguments.done';
  name: string;
  arguments: string;
}

export interface McpArgumentsDoneEvent extends ItemPosition {
  type: 'response.mcp_call_arguments.done';
  arguments: string;
}

export interface CustomInputDoneEvent extends ItemPosition {
  type: 'response.custom_tool_call_input.done';
  input: string;
}

interface SummaryPosition extends ItemPosition {
  summary_index: number;
}

export interface SummaryPartEvent extends SummaryPosition {
  type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done';
  part: { type: 'summary_text'; text: string };
}

export interface SummaryDeltaEvent extends SummaryPosition {
  type: 'response.reasoning_summary_text.delta';
  delta: string;
}

export interface SummaryDoneEvent extends SummaryPosition {
  type: 'response.reasoning_summary_text.done';
  text: string;
}

/**
 * A failure within the stream. It has its fields twice: OpenAI's reference has them at the top level, Open Responses
 * (and its clients) in `error`.
 */
export interface ErrorEvent extends Numbered {
  type: 'error';
  code: string;
  message: string;
  param: string | null;
  error: { type: string; code: string; message: string; param: string | null };
}

export type ResponseEvent =
  | LifecycleEvent
  | ItemEvent
  | PartEvent
  | TextDeltaEvent
  | TextDoneEvent
  | RefusalDeltaEvent
  | RefusalDoneEvent
  | AnnotationEvent
  | ServerWorkEvent
  | CallDeltaEvent
  | FunctionArgumentsDoneEvent
  | McpArgumentsDoneEvent
  | CustomInputDoneEvent
  | SummaryPartEvent
  | SummaryDeltaEvent
  | SummaryDoneEvent
  | ErrorEvent;

type WithoutNumber<Event> = Event extends ResponseEvent ? Omit<Event, 'sequence_number'> : never;
/** An event before the log numbers it. */
export type UnnumberedEvent = WithoutNumber<ResponseEvent>;

const terminalTypes: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** True for the one event that ends a log. */
export function isTerminal({ type }: Pick<ResponseEvent, 'type'>): boolean {
  return terminalTypes.has(type);
}

/** True for events after which a run cannot be restarted, because a client has seen output. */
export function isOutput({ type }: Pick<ResponseEvent, 'type'>): boolean {
  return type !== 'response.created' && type !== 'response.queued' && type !== 'response.in_progress';
}

/** Formats an event as a server-sent frame: its type, one line of data, a blank line. */
export function eventFrame(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Yields events as frames, with `[DONE]` at the end. */
export async function* eventFrames(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string> {
  for await (const event of events) yield eventFrame(event);
  yield 'data: [DONE]\n\n';
}
