import { z } from 'zod';

/** The content blocks of Anthropic's Messages API. Further fields, such as `cache_control`, change nothing here. */

const base64Source = z.looseObject({
  type: z.literal('base64'),
  media_type: z.string(),
  data: z.string().min(1),
});
const urlSource = z.looseObject({ type: z.literal('url'), url: z.string().min(1) });
const fileSource = z.looseObject({ type: z.literal('file'), file_id: z.string().min(1) });
const textSource = z.looseObject({ type: z.literal('text'), data: z.string() });

export const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });

const imageBlock = z.looseObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64Source, urlSource]),
});

const citations = z.looseObject({ enabled: z.boolean().optional() }).nullish();

const documentBlock = z.looseObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    base64Source,
    textSource,
    urlSource,
    fileSource,
    z.looseObject({ type: z.literal('content'), content: z.union([z.string(), z.array(textBlock)]) }),
  ]),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations,
});

const searchResultBlock = z.looseObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlock).min(1),
  citations,
});

const toolResultContent = z.discriminatedUnion('type', [
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
]);
const toolResultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(toolResultContent)]).nullish(),
  is_error: z.boolean().nullish(),
});

const toolUseBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});

const thinkingBlock = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().nullish(),
});
const redactedThinkingBlock = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() });

/** A block of the user's messages. */
export const userBlock = z.discriminatedUnion('type', [
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  toolResultBlock,
]);

/** A block of the assistant's messages. */
export const assistantBlock = z.discriminatedUnion('type', [
  textBlock,
  toolUseBlock,
  thinkingBlock,
  redactedThinkingBlock,
]);

export type UserBlock = z.output<typeof userBlock>;
export type AssistantBlock = z.output<typeof assistantBlock>;
export type ToolResultBlock = z.output<typeof toolResultBlock>;
export type DocumentBlock = z.output<typeof documentBlock>;
export type SearchResultBlock = z.output<typeof searchResultBlock>;
export type ToolResultContent = z.output<typeof toolResultContent>;
