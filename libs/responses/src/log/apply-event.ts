import { outputText, type OutputItem, type OutputText } from '../items/output-items.js';
import type { ResponseObject } from '../response-object.js';
import type { ResponseEvent, UnnumberedEvent } from './events.js';

/**
 * What an event does to a response; the only place that knows. Changes `response` where it can and answers it, or the
 * one that the event carries. Events must come in the order of their log. `output_text` is left to whoever takes a
 * snapshot: joining it at every delta would cost the square of its length.
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
    case 'response.file_search_call.in_progress':
    case 'response.file_search_call.searching':
    case 'response.file_search_call.completed':
      applySearch(itemAt(response, event.output_index), event.type);
      break;
    default:
      applyToPart(response, event);
  }
  return response;
}

/** The response that a log leads to. `events` begin with `response.created`. */
export function responseFromEvents(events: readonly ResponseEvent[]): ResponseObject {
  const [first, ...rest] = events;
  if (!first || !('response' in first)) throw new Error('A log begins with a snapshot of the response');
  let response = structuredClone(first.response);
  for (const event of rest) response = applyEvent(response, event);
  response.output_text = outputText(response.output);
  return response;
}

type PartLevelEvent = Extract<UnnumberedEvent, { content_index: number }>;

function applyToPart(response: ResponseObject, event: PartLevelEvent): void {
  const item = itemAt(response, event.output_index);
  if (item.type !== 'message') throw new Error(`${event.type} on a ${item.type}`);
  if ('part' in event) {
    item.content[event.content_index] = structuredClone(event.part);
    return;
  }
  const part = item.content[event.content_index];
  if (!part) throw new Error(`${event.type} before its part`);
  extendPart(part, event);
}

function extendPart(part: OutputText, event: Exclude<PartLevelEvent, { part: OutputText }>): void {
  if (event.type === 'response.output_text.delta') {
    part.text += event.delta;
    part.logprobs.push(...event.logprobs);
  } else if (event.type === 'response.output_text.done') part.text = event.text;
  else part.annotations[event.annotation_index] = event.annotation;
}

function applySearch(item: OutputItem, type: string): void {
  if (item.type !== 'file_search_call') throw new Error(`${type} on a ${item.type}`);
  item.status = type.slice(type.lastIndexOf('.') + 1) as typeof item.status;
}

function itemAt(response: ResponseObject, index: number): OutputItem {
  const item = response.output[index];
  if (!item) throw new Error(`No item at output_index ${index}`);
  return item;
}
