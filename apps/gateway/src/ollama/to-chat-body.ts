import { unsupportedField } from '#platform/contracts';
import type { OllamaChat, OllamaGenerate, OllamaMessage } from './requests.js';

/** A request in the form of a chat completion request, and the fields without effect. */
export interface ConvertedChat {
  body: Record<string, unknown>;
  ignored: string[];
}

/** Names of Ollama's options in a chat completion request. */
const optionNames: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_k: 'top_k',
  top_p: 'top_p',
  min_p: 'min_p',
  seed: 'seed',
  stop: 'stop',
  num_predict: 'max_tokens',
  repeat_penalty: 'repetition_penalty',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
};
/** A limit of tokens that means none: until the end, and until the context is full. */
const noLimits: ReadonlySet<unknown> = new Set([-1, -2]);

/** Fields that are read here; all others pass to the mega service, or are without effect. */
const readFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'stream',
  'think',
  'format',
  'options',
  'keep_alive',
  'logprobs',
  'top_logprobs',
  'prompt',
  'suffix',
  'images',
  'system',
  'template',
  'context',
  'raw',
]);

/** Converts a request of `/api/chat`. Errors: unsupported_parameter. */
export function chatBody(request: OllamaChat): ConvertedChat {
  const { tools } = request;
  const { fields, ignored } = sharedFields(request);
  const body = {
    ...fields,
    messages: chatMessages(request.messages ?? []),
    ...(tools &&
      tools.length > 0 && { tools: tools.map((tool) => ({ ...tool, type: tool.type ?? 'function' })) }),
  };
  return { body, ignored };
}

/** Converts a request of `/api/generate` that is not raw. Errors: unsupported_parameter. */
export function generateBody(request: OllamaGenerate): ConvertedChat {
  const { system, prompt, images } = request;
  if (request.template) throw unsupportedField('template', 'a request cannot replace the chat template');
  if (request.context?.length)
    throw unsupportedField('context', 'is not served; send the conversation to /api/chat');
  const { fields, ignored } = sharedFields(request);
  const messages = [
    ...(system ? [{ role: 'system' as const, content: system }] : []),
    { role: 'user' as const, content: prompt ?? '', images },
  ];
  return { body: { ...fields, messages: chatMessages(messages) }, ignored };
}

/** The sampling parameters of Ollama's options, and the options without effect. */
export function samplingOf(options: OllamaChat['options']): ConvertedChat {
  const body: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(options ?? {})) {
    const known = Object.hasOwn(optionNames, name) ? optionNames[name] : undefined;
    if (value === null || value === undefined) continue;
    if (known === undefined) ignored.push(`options.${name}`);
    else if (known !== 'max_tokens' || !noLimits.has(value)) body[known] = value;
  }
  return { body, ignored };
}

function sharedFields(request: OllamaChat | OllamaGenerate): {
  fields: Record<string, unknown>;
  ignored: string[];
} {
  const { model, stream, think, format, logprobs, top_logprobs } = request;
  const { body: sampling, ignored } = samplingOf(request.options);
  const rest = Object.entries(request).filter(([name]) => !readFields.has(name));
  const fields = {
    ...Object.fromEntries(rest),
    ...sampling,
    model: plainName(model),
    stream: stream !== false,
    ...thinkField(think),
    ...(format && { response_format: responseFormat(format) }),
    ...(logprobs === true && { logprobs: true, ...(top_logprobs && { top_logprobs }) }),
  };
  return { fields, ignored };
}

/** Ollama's name of a model without its tag. */
export function plainName(name: string): string {
  return name.replace(/:latest$/, '');
}

function thinkField(think: OllamaChat['think']) {
  if (think === null || think === undefined) return {};
  if (think === false) return { reasoning_effort: 'none' };
  return { reasoning_effort: think === true ? 'medium' : think };
}

function responseFormat(format: 'json' | Record<string, unknown>) {
  if (format === 'json') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema: format } };
}

/** Calls have no ids in Ollama's API: a result belongs to the oldest open call, with its name if it has one. */
function chatMessages(messages: readonly OllamaMessage[]): Record<string, unknown>[] {
  let count = 0;
  const open: { id: string; name: string }[] = [];
  return messages.map(({ role, content, thinking, images, tool_calls: calls, tool_name, tool_call_id }) => {
    if (role === 'tool')
      return { role, content: content ?? '', tool_call_id: tool_call_id ?? takeId(open, tool_name) };
    const toolCalls = (calls ?? []).map(({ id, function: { name, arguments: args } }) => {
      const call = { id: id ?? `call_${(count += 1)}`, name };
      open.push(call);
      return { id: call.id, type: 'function', function: { name, arguments: JSON.stringify(args ?? {}) } };
    });
    return {
      role,
      content: contentOf(content ?? '', images ?? []),
      ...(thinking && { reasoning_content: thinking }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
  });
}

function takeId(open: { id: string; name: string }[], name: string | null | undefined): string {
  const place = Math.max(0, name ? open.findIndex((call) => call.name === name) : 0);
  return open.splice(place, 1)[0]?.id ?? 'call_0';
}

function contentOf(text: string, images: readonly string[]) {
  if (images.length === 0) return text;
  const parts = images.map((image) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }));
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...parts];
}

/** The beginnings of images in base64. */
const imageTypes: readonly (readonly [start: string, type: string])[] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];

function dataUrl(image: string): string {
  if (image.startsWith('data:')) return image;
  const type = imageTypes.find(([start]) => image.startsWith(start))?.[1] ?? 'image/png';
  return `data:${type};base64,${image}`;
}
