import { z } from 'zod';

const bodySchema = z.looseObject({ messages: z.array(z.unknown()) });

/** A part of a message, and where it lies, so that another one can take its place. */
export interface MessagePart {
  content: unknown[];
  index: number;
  path: string;
}

/** The parts of a type in the messages of a chat; whatever else is wrong with the body is for its schema to say. */
export function messageParts(body: unknown, type: string): MessagePart[] {
  const { messages = [] } = bodySchema.safeParse(body).data ?? {};
  return messages.flatMap((message, position) => {
    const content = (message as { content?: unknown } | null)?.content;
    if (!Array.isArray(content)) return [];
    return content.flatMap((part: { type?: unknown } | null, index) => {
      const path = `messages[${position}].content[${index}]`;
      return part?.type === type ? [{ content, index, path }] : [];
    });
  });
}
