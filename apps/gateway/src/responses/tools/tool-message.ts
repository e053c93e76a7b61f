import { maxImages, type ChatMessage } from '#contracts';
import type { ToolOutcome } from './server-tool.js';

/** What the model is told of a result, and shown of it where it sees. */
export function toolMessage(
  { output = '', images = [] }: Pick<ToolOutcome, 'output' | 'images'>,
  toolCallId: string,
  takesImages: boolean,
): ChatMessage {
  const isShown = takesImages && images.length > 0;
  return { role: 'tool', content: output, toolCallId, ...(isShown && { images: [...images] }) };
}

/** The turns without the images of tools that would be too many for one request: the oldest of these stay. */
export function withinImageLimit(messages: readonly ChatMessage[]): ChatMessage[] {
  const given = messages.filter(({ role }) => role !== 'tool');
  let left = maxImages - given.reduce((sum, { images = [] }) => sum + images.length, 0);
  return messages.map((message) => {
    const { images, ...rest } = message;
    if (message.role !== 'tool' || !images) return message;
    left -= images.length;
    return left < 0 ? rest : message;
  });
}
