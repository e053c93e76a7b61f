import { MegaNestError } from '#platform/contracts';
import { AttachedSources, type AttachedSource } from './attached-sources.js';
import { ChatMessageWriter, type ConvertedMessages, type OpenThinking } from './chat-messages.js';
import type { CountTokensRequest, MessagesRequest } from './messages-request.js';

/** A request in the form of a chat completion request, and what is needed to answer it in Anthropic's form. */
export interface ConvertedRequest {
  body: Record<string, unknown>;
  sources: readonly AttachedSource[];
  /** Fields without effect. */
  ignored: string[];
  /** The same error with the path of the field in the client's request. */
  named: (error: unknown) => unknown;
}

/** Fields that are read here; all others pass to the mega service, or are without effect. */
const readFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_k',
  'top_p',
  'metadata',
  'service_tier',
  'output_config',
  'output_format',
  // The blocks of a conversation are found by their content.
  'cache_control',
]);

/** Tokens of thinking from which an effort is medium, and high. */
const mediumBudget = 4_096;
const highBudget = 16_384;

/** Converts a request of Anthropic's Messages API to the body of a chat completion request. */
export function toChatBody(
  request: MessagesRequest | (CountTokensRequest & { max_tokens?: undefined }),
  openThinking: OpenThinking,
): ConvertedRequest {
  const sources = new AttachedSources();
  const system = systemMessage(request.system);
  const converted = new ChatMessageWriter(sources, openThinking).convert(request.messages);
  const messages = [...system, ...converted.messages];
  const { max_tokens, temperature, top_k, top_p, stream } = request;
  const { effort, format } = (request as MessagesRequest).output_config ?? {};
  const wantedFormat = format ?? (request as MessagesRequest).output_format;
  const rest = Object.entries(request).filter(([name]) => !readFields.has(name));
  const stops = (request as MessagesRequest).stop_sequences ?? [];
  const body = {
    ...Object.fromEntries(rest),
    model: request.model,
    messages,
    ...(max_tokens !== undefined && { max_tokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_k === 'number' && { top_k }),
    ...(typeof top_p === 'number' && { top_p }),
    stream: stream === true,
    // The answer says which sequence ended it.
    ...(stops.length > 0 && { stop: stops, include_stop_str_in_output: true }),
    ...toolFields(request),
    ...thinkingFields(request.thinking, effort),
    ...(wantedFormat && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: wantedFormat.schema } },
    }),
    ...userField(request as MessagesRequest),
  };
  const ignored = converted.leavesOutThinking ? ['messages.thinking'] : [];
  const { service_tier: tier } = request as MessagesRequest;
  if (tier === 'standard_only') ignored.push('service_tier');
  return { body, sources: sources.all, ignored, named: (error) => renamed(error, converted, system.length) };
}

function systemMessage(system: MessagesRequest['system']): { role: string; content: string }[] {
  const text = typeof system === 'string' ? system : (system ?? []).map((block) => block.text).join('\n\n');
  return text.trim() === '' ? [] : [{ role: 'system', content: text }];
}

function toolFields({ tools, tool_choice: choice }: CountTokensRequest) {
  if (!tools || tools.length === 0) return {};
  const functions = tools.map(({ name, description, input_schema: parameters, strict }) => ({
    type: 'function',
    function: { name, description, parameters, ...(typeof strict === 'boolean' && { strict }) },
  }));
  const isSingle = choice && choice.type !== 'none' && choice.disable_parallel_tool_use === true;
  return { tools: functions, ...toolChoice(choice), ...(isSingle && { parallel_tool_calls: false }) };
}

function toolChoice(choice: CountTokensRequest['tool_choice']) {
  switch (choice?.type) {
    case 'any':
      return { tool_choice: 'required' };
    case 'tool':
      return { tool_choice: { type: 'function', function: { name: choice.name } } };
    case 'none':
    case 'auto':
      return { tool_choice: choice.type };
    default:
      return {};
  }
}

/** Thinking as a reasoning effort. An effort of the request comes first. */
function thinkingFields(thinking: MessagesRequest['thinking'], effort: string | null | undefined) {
  if (thinking?.type === 'disabled') return { reasoning_effort: 'none' };
  if (effort) return { reasoning_effort: effort };
  if (thinking?.type !== 'enabled') return {};
  const { budget_tokens: budget } = thinking;
  return { reasoning_effort: budget >= highBudget ? 'high' : budget >= mediumBudget ? 'medium' : 'low' };
}

function userField({ metadata }: MessagesRequest) {
  return metadata?.user_id ? { user: metadata.user_id } : {};
}

/** Replaces the paths of the chat completion request in an error. */
function renamed(thrown: unknown, { paths }: ConvertedMessages, systemMessages: number): unknown {
  if (!(thrown instanceof MegaNestError) || thrown.param === null) return thrown;
  const param = clientPath(thrown.param, paths, systemMessages);
  if (param === thrown.param) return thrown;
  const message = thrown.message.replaceAll(thrown.param, param);
  return MegaNestError.fromBody({ ...thrown.toBody(), param, message });
}

const otherNames: Readonly<Record<string, string>> = {
  stop: 'stop_sequences',
  reasoning_effort: 'thinking',
  user: 'metadata.user_id',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
};

function clientPath(param: string, paths: ConvertedMessages['paths'], systemMessages: number): string {
  if (param.startsWith('response_format')) return 'output_config.format.schema';
  const tool = /^(tools\[\d+\])\.function(?:\.parameters)?/.exec(param);
  if (tool)
    return `${tool[1]}${param.includes('.parameters') ? '.input_schema' : ''}${param.slice(tool[0].length)}`;
  const [, index, part] = /^messages\[(\d+)\](?:\.content\[(\d+)\])?/.exec(param) ?? [];
  if (index === undefined) return otherNames[param] ?? param;
  const place = paths[Number(index) - systemMessages];
  if (!place) return 'system';
  return (part !== undefined && place.parts[Number(part)]) || place.message;
}
