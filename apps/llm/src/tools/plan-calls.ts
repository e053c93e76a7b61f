import { invalidField, type ChatMessage, type OutputConstraint, type Tool } from '#platform/contracts';
import type { ChatTemplate, GenerationEvent, GenerateRequest as ModelRequest } from '#engine/generation';
import { createHash, randomBytes } from 'node:crypto';
import {
  answerMarks,
  callConstraint,
  describeTools,
  detectToolFormat,
  templateTool,
  type GenerateRequest,
  type ToolFormat,
} from './tool-format.js';
import {
  AnswerReader,
  engineThinkMarks,
  readAnswers,
  ThinkSplitter,
  type ThoughtForm,
} from './answer-reader.js';
import { CallParser } from './call-parser.js';
import type { CallReader, CallReaderOptions } from './call-stream.js';
import { readNativeCalls, type NativeCallOptions } from './native-calls.js';
import { XmlCallParser } from './xml-call-parser.js';

/** The fields of a request about tools and reasoning. */
export type CallOptions = Pick<
  GenerateRequest,
  'tools' | 'tool_choice' | 'parallel_tool_calls' | 'chat_template_kwargs' | 'constraint'
> & {
  /** The answer is grounded on passages; reasoning would only use up its tokens. */
  grounded?: boolean;
  /** The answer is not streamed. */
  whole?: boolean;
  /** The form of the reasoning in the answers of an engine; absent for local models. */
  thoughts?: ThoughtForm;
};

/** The request to the model with its tools, and the reader of its answer. */
export interface CallPlan {
  readonly messages: ChatMessage[];
  readonly chatTemplateKwargs?: Record<string, unknown>;
  readonly constraint?: OutputConstraint;
  /** Tools for an engine that writes prompts itself. */
  readonly native?: Pick<ModelRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>;
  /** Separates text, reasoning and calls. */
  readonly read: (events: AsyncIterable<GenerationEvent>) => AsyncIterable<GenerationEvent>;
  /** An answer may not have the requested form; `read` then throws a BrokenFormError. */
  readonly mayBreak: boolean;
}

/**
 * Plans a conversation with tools. The chat template renders the tools where it supports them, otherwise the system
 * turn describes them. A constraint enforces the form of calls. Errors: invalid_request for an unknown chosen tool.
 */
export function planCalls(
  messages: readonly ChatMessage[],
  options: CallOptions,
  template: ChatTemplate | undefined,
  forms: NativeCallOptions['forms'],
): CallPlan {
  const tools = callableTools(options);
  if (!template) return nativePlan(messages, options, tools, forms);
  const format = detectToolFormat(template.source);
  const required = options.tool_choice?.mode === 'required';
  const kwargs = templateKwargs(options, template.source, tools.length > 0 && required);
  const shown = format.inTemplate ? withShortIds(messages, format) : describeTools(messages, tools, format);
  const answerSchema = jsonConstraint(options.constraint);
  const withAnswer = tools.length > 0 && answerSchema !== undefined && !required;
  const asked = withAnswer ? withAnswerMarks(shown) : shown;
  if (format.inTemplate && tools.length > 0) kwargs['tools'] = tools.map(templateTool);
  const constraint =
    tools.length > 0
      ? callConstraint({
          format,
          tools,
          required,
          single: options.parallel_tool_calls === false,
          answerSchema,
        })
      : options.constraint;
  const opened = thinks(template.source) && /<think>\s*$/.test(template.render(asked, kwargs));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const newReader = () =>
    new AnswerReader(
      thinks(template.source) ? new ThinkSplitter({ opened }) : undefined,
      tools.length > 0
        ? newCallReader({ format, tools: byName, newCallId, ...(withAnswer && { marks: answerMarks }) })
        : undefined,
    );
  const isPlain = tools.length === 0 && !thinks(template.source);
  return {
    messages: asked,
    ...(Object.keys(kwargs).length > 0 && { chatTemplateKwargs: kwargs }),
    ...(constraint && { constraint }),
    mayBreak: false,
    read: (events) => (isPlain ? events : readAnswers(events, newReader)),
  };
}

/** The variables of {@link knownVariables} that a template uses. */
export function templateVariables(source: string): string[] {
  return knownVariables.filter((name) => new RegExp(`\\b${name}\\b`).test(source));
}
const knownVariables = ['tools', 'enable_thinking', 'reasoning_effort'];

function callableTools({ tools = [], tool_choice: choice }: CallOptions): Tool[] {
  if (choice?.mode === 'none') return [];
  const missing = choice?.names?.find((name) => !tools.some((tool) => tool.name === name));
  if (missing !== undefined) throw invalidField('tool_choice', `names ${missing}, which is not in tools`);
  if (choice?.mode === 'required' && tools.length === 0)
    throw invalidField('tool_choice', 'requires a call, but the request has no tools');
  const placed = tools.map((tool, index) => ({ ...tool, at: tool.at ?? defaultPath(tool, index) }));
  return placed.filter(({ name }) => choice?.names?.includes(name) ?? true);
}

/** Path of a tool's schema or grammar in a request of this service. */
function defaultPath({ type }: Tool, index: number): string {
  return `tools[${index}].${type === 'custom' ? 'grammar.definition' : 'parameters'}`;
}

function nativePlan(
  messages: readonly ChatMessage[],
  options: CallOptions,
  tools: Tool[],
  forms: NativeCallOptions['forms'],
): CallPlan {
  const { chat_template_kwargs: kwargs, constraint } = options;
  const {
    parallel_tool_calls: parallelToolCalls,
    tool_choice: toolChoice,
    whole = false,
    thoughts,
  } = options;
  const isOff = kwargs?.['enable_thinking'] === false || kwargs?.['thinking'] === false;
  const opened = thoughts?.begin === true && !isOff;
  const newReader = () =>
    new AnswerReader(new ThinkSplitter({ opened, waits: whole }, engineThinkMarks), undefined, thoughts);
  const form = constraint?.type === 'structural_tag' ? undefined : constraint;
  const terms = {
    tools,
    required: toolChoice?.mode === 'required',
    single: parallelToolCalls === false,
    ...(form && { form }),
  };
  return {
    messages: [...messages],
    ...(kwargs && { chatTemplateKwargs: kwargs }),
    ...(constraint && { constraint }),
    ...(tools.length > 0 && { native: { tools, toolChoice, parallelToolCalls } }),
    mayBreak: true,
    // An engine without a parser leaves the reasoning in the text.
    read: (events) =>
      readNativeCalls(readAnswers(events, newReader, { keepsEmpty: whole }), {
        terms,
        forms,
        newCallId,
      }),
  };
}

/** A constraint from the first token on leaves no room for reasoning, so it is turned off where the template can. */
function templateKwargs(
  { chat_template_kwargs: given = {}, constraint, grounded = false }: CallOptions,
  source: string,
  required: boolean,
): Record<string, unknown> {
  const mustNotThink =
    (required || grounded || constraint !== undefined) && /\benable_thinking\b/.test(source);
  return mustNotThink ? { enable_thinking: false, ...given } : { ...given };
}

function jsonConstraint(constraint: OutputConstraint | undefined) {
  if (constraint?.type === 'json_schema' || constraint?.type === 'json_object') return constraint;
  return undefined;
}

function withAnswerMarks(messages: readonly ChatMessage[]): ChatMessage[] {
  const { open, close } = answerMarks;
  const content = `Answer without calling a tool by writing ${open}JSON${close}.`;
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${content}` }, ...rest];
}

function thinks(source: string): boolean {
  return source.includes('</think>');
}

function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}

/** Mistral's templates accept only ids of nine letters and digits. */
const length = 9;

/** The conversation with ids of calls that the model's template accepts; the caller keeps its own ids. */
function withShortIds(messages: readonly ChatMessage[], { name }: ToolFormat): ChatMessage[] {
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

/** A reader for the model's format of calls. */
export function newCallReader(options: CallReaderOptions): CallReader {
  return options.format.name === 'qwen-xml' ? new XmlCallParser(options) : new CallParser(options);
}
