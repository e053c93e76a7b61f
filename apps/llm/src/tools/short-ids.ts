import { createHash } from 'node:crypto';
import type { ChatMessage } from '#contracts';
import type { ToolFormat } from './tool-format.js';

/** Mistral's templates take ids of nine letters and digits alone. */
const length = 9;

/** The conversation with ids of calls that the model's template takes; the caller keeps its own. */
export function withShortIds(messages: readonly ChatMessage[], { name }: ToolFormat): ChatMessage[] {
  if (name !== 'mistral' && name !== 'mistral-args') return [...messages];
  return messages.map(({ toolCalls, toolCallId, ...message }) => ({
    ...message,
    ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ ...call, id: shortId(call.id) })) }),
    ...(toolCallId !== undefined && { toolCallId: shortId(toolCallId) }),
  }));
}

function shortId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, length);
}
