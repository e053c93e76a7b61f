import {
  outputText,
  type FunctionCall,
  type McpCall,
  type OutputItem,
  type OutputMessage,
  type OutputRefusal,
  type OutputText,
  type ReasoningItem,
} from '../items/output-items.js';
import type { ResponseObject } from '../response-object.js';
import type { ResponseEvent, UnnumberedEvent } from './events.js';

/**
 * Applies an event to a response. Changes `response` in place if possible and returns it, or returns the response of
 * the event. Events must come in the order of their log. It does not set `output_text`, because joining the text at
 * every delta would take quadratic time: a snapshot sets it.
 */
export function applyEvent(response: ResponseObject, event: UnnumberedEvent | ResponseEvent): ResponseObject {
  if ('response' in event) return structuredClone(event.response);
  switch (event.type) {
    case 'error':
      return response;
    case 'response.output_item.added':
    case 'response.output_item.done':
      response.output[event.output_index] = structuredClone(event.item);
      break;
    default:
      applyToItem(response, event);
  }
  return response;
}

/** Returns the response at the end of a log. `events` begin with `response.created`. */
export function responseFromEvents(events: readonly ResponseEvent[]): ResponseObject {
  const [first, ...rest] = events;
  if (!first || !('response' in first)) throw new Error('A log begins with a snapshot of the response');
  let response = structuredClone(first.response);
  for (const event of rest) response = applyEvent(response, event);
  response.output_text = outputText(response.output);
  return response;
}

type ItemLevelEvent = Exclude<
  Extract<UnnumberedEvent, { item_id: string }>,
  { response: ResponseObject } | { item: OutputItem }
>;
type PartLevelEvent = Extract<ItemLevelEvent, { content_index: number }>;
type SummaryEvent = Extract<ItemLevelEvent, { summary_index: number }>;

function applyToItem(response: ResponseObject, event: ItemLevelEvent): void {
  const item = itemAt(response, event.output_index);
  if ('content_index' in event) applyToPart(typed(item, 'message', event), event);
  else if ('summary_index' in event) applyToSummary(typed(item, 'reasoning', event), event);
  else if ('delta' in event) extendCall(item, event);
  else if ('arguments' in event) callWithArguments(item, event).arguments = event.arguments;
  else if ('input' in event) typed(item, 'custom_tool_call', event).input = event.input;
  else applyWork(item, event.type);
}

function applyToPart(item: OutputMessage, event: PartLevelEvent): void {
  if ('part' in event) {
    item.content[event.content_index] = structuredClone(event.part);
    return;
  }
  const part = item.content[event.content_index];
  if (!part) throw new Error(`${event.type} before its part`);
  if (event.type === 'response.refusal.delta') asRefusal(part, event).refusal += event.delta;
  else if (event.type === 'response.refusal.done') asRefusal(part, event).refusal = event.refusal;
  else extendText(part, event);
}

type TextEvent = Exclude<PartLevelEvent, { part: unknown } | { type: `response.refusal.${string}` }>;

function extendText(part: OutputText | OutputRefusal, event: TextEvent): void {
  if (part.type !== 'output_text') throw new Error(`${event.type} on a ${part.type}`);
  if (event.type === 'response.output_text.delta') {
    part.text += event.delta;
    part.logprobs.push(...event.logprobs);
  } else if (event.type === 'response.output_text.done') part.text = event.text;
  else part.annotations[event.annotation_index] = event.annotation;
}

function asRefusal(part: OutputText | OutputRefusal, { type }: { type: string }): OutputRefusal {
  if (part.type === 'refusal') return part;
  throw new Error(`${type} on an ${part.type}`);
}

function applyToSummary(item: ReasoningItem, event: SummaryEvent): void {
  if ('part' in event) {
    item.summary[event.summary_index] = { ...event.part };
    return;
  }
  const part = item.summary[event.summary_index];
  if (!part) throw new Error(`${event.type} before its part`);
  if ('delta' in event) part.text += event.delta;
  else part.text = event.text;
}

function extendCall(item: OutputItem, event: Extract<ItemLevelEvent, { delta: string }>): void {
  if (item.type === 'custom_tool_call') item.input += event.delta;
  else callWithArguments(item, event).arguments += event.delta;
}

function callWithArguments(item: OutputItem, { type }: { type: string }): FunctionCall | McpCall {
  if (item.type === 'function_call' || item.type === 'mcp_call') return item;
  throw new Error(`${type} on a ${item.type}`);
}

/** `response.file_search_call.searching`: the item's type and its new status. */
function applyWork(item: OutputItem, type: string): void {
  const [, itemType, phase] = type.split('.');
  if (item.type !== itemType) throw new Error(`${type} on a ${item.type}`);
  if (item.type === 'file_search_call' || item.type === 'mcp_call') item.status = phase as McpCall['status'];
}

function typed<Type extends OutputItem['type']>(
  item: OutputItem,
  type: Type,
  event: { type: string },
): Extract<OutputItem, { type: Type }> {
  if (item.type !== type) throw new Error(`${event.type} on a ${item.type}`);
  return item as Extract<OutputItem, { type: Type }>;
}

function itemAt(response: ResponseObject, index: number): OutputItem {
  const item = response.output[index];
  if (!item) throw new Error(`No item at output_index ${index}`);
  return item;
}
