import { z } from 'zod';

const options = z.looseObject({}).nullish();
const think = z.union([z.boolean(), z.enum(['low', 'medium', 'high'])]).nullish();
const format = z.union([z.literal(''), z.literal('json'), z.record(z.string(), z.unknown())]).nullish();
/** Models stay loaded, so that the time changes nothing. */
const keepAlive = z.union([z.string(), z.number()]).nullish();
const images = z.array(z.string().min(1)).nullish();

const toolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({
    name: z.string().min(1),
    arguments: z.record(z.string(), z.unknown()).nullish(),
  }),
});

const message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().nullish(),
  thinking: z.string().nullish(),
  images,
  tool_calls: z.array(toolCall).nullish(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
});
export type OllamaMessage = z.output<typeof message>;

const shared = {
  model: z.string().min(1),
  stream: z.boolean().nullish(),
  think,
  format,
  options,
  keep_alive: keepAlive,
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
};

/** The body of `POST /api/chat`. */
export const chatSchema = z.looseObject({
  ...shared,
  messages: z.array(message).nullish(),
  tools: z.array(z.looseObject({ type: z.string().nullish() })).nullish(),
});
export type OllamaChat = z.output<typeof chatSchema>;

/** The body of `POST /api/generate`. */
export const generateSchema = z.looseObject({
  ...shared,
  prompt: z.string().nullish(),
  suffix: z.string().nullish(),
  images,
  system: z.string().nullish(),
  template: z.string().nullish(),
  context: z.array(z.int()).nullish(),
  raw: z.boolean().nullish(),
});
export type OllamaGenerate = z.output<typeof generateSchema>;

/** The body of `POST /api/show`; older clients call the model `name`. */
export const showSchema = z.looseObject({
  model: z.string().min(1).optional(),
  name: z.string().min(1).optional(),
});

/** The body of `POST /api/embed`. */
export const embedSchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2_048)]),
  truncate: z.boolean().nullish(),
  dimensions: z.int().min(1).nullish(),
  options,
  keep_alive: keepAlive,
});

/** The body of `POST /api/embeddings`, the older form. */
export const embeddingsSchema = z.looseObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  options,
  keep_alive: keepAlive,
});
