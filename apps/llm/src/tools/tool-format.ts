import type { ChatMessage, OutputConstraint, Tool, generate, ParsedRequestOf } from '#platform/contracts';
import { rawInputName } from './raw-input.js';

/** A model's format of calls. */
export interface ToolFormat {
  readonly name: 'hermes' | 'plain-hermes' | 'llama' | 'mistral' | 'mistral-args' | 'qwen-xml';
  /** The chat template writes the tools, and earlier calls and results, by itself. */
  readonly inTemplate: boolean;
  /** The beginning of a call in the text, without trailing spaces. */
  readonly marker: string;
  /** The text before a call's JSON, or before its name where the name is outside the JSON. */
  readonly open: string;
  /** The text after the call. */
  readonly close: string;
  readonly argumentsKey: 'arguments' | 'parameters';
}

/** Qwen 2.5 and 3, Hermes: `<tool_call>\n{"name": …, "arguments": …}\n</tool_call>`. */
const hermes: ToolFormat = {
  name: 'hermes',
  inTemplate: true,
  marker: '<tool_call>',
  open: '<tool_call>\n',
  close: '\n</tool_call>',
  argumentsKey: 'arguments',
};

/** The same on one line, for templates without tools: the system turn describes it. nano-chat was trained with it. */
const plainHermes: ToolFormat = {
  ...hermes,
  name: 'plain-hermes',
  inTemplate: false,
  open: '<tool_call>',
  close: '</tool_call>',
};

/** Llama 3.1 and later: the answer is `{"name": …, "parameters": …}`. */
const llama: ToolFormat = {
  name: 'llama',
  inTemplate: true,
  marker: '{"name":',
  open: '',
  close: '',
  argumentsKey: 'parameters',
};

/** Mistral to the third version of its tokenizer: `[TOOL_CALLS] [{"name": …, "arguments": …}, …]`. */
const mistral: ToolFormat = {
  name: 'mistral',
  inTemplate: true,
  marker: '[TOOL_CALLS]',
  open: '[TOOL_CALLS] [',
  close: ']',
  argumentsKey: 'arguments',
};

/** Later versions of Mistral: `[TOOL_CALLS]name[ARGS]{…}`. */
const mistralArgs: ToolFormat = { ...mistral, name: 'mistral-args', open: '[TOOL_CALLS]', close: '' };

/** Qwen3-Coder: `<tool_call>\n<function=name>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>`. */
const qwenXml: ToolFormat = {
  ...hermes,
  name: 'qwen-xml',
  open: '<tool_call>\n<function=',
  close: '</function>\n</tool_call>',
};

/** The format of calls in a chat template. */
export function detectToolFormat(template: string): ToolFormat {
  if (template.includes('<tool_call>')) return template.includes('<function=') ? qwenXml : hermes;
  if (template.includes('[TOOL_CALLS]')) return template.includes('[ARGS]') ? mistralArgs : mistral;
  if (template.includes('"parameters": ') && /python_tag|ipython/.test(template)) return llama;
  return plainHermes;
}

/** The text of a call before its arguments. */
export function callOpening({ name: format, open, argumentsKey }: ToolFormat, name: string): string {
  if (format === 'qwen-xml') return `${open}${name}>\n`;
  if (format === 'mistral-args') return `${open}${name}[ARGS]`;
  return `${open}{"name": ${JSON.stringify(name)}, "${argumentsKey}": `;
}

/** The text of a call after its arguments. */
export function callClosing({ name: format, close }: ToolFormat): string {
  return format === 'qwen-xml' || format === 'mistral-args' ? close : `}${close}`;
}

/** A validated request of `llm.generate`. */
export type GenerateRequest = ParsedRequestOf<typeof generate>;

/** Marks around an answer with a schema, where the model may call tools instead. The reader removes them. */
export const answerMarks = { open: '<answer>', close: '</answer>' };

interface CallConstraintOptions {
  format: ToolFormat;
  /** The tools that may be called. */
  tools: readonly Tool[];
  /** The answer must contain a call. */
  required: boolean;
  /** The answer may contain at most one call. */
  single: boolean;
  /** JSON schema of an answer without a call. */
  answerSchema?: OutputConstraint & { type: 'json_schema' | 'json_object' };
}

/**
 * Constrains calls to the names and arguments of the tools. Arguments of a strict function must satisfy its schema;
 * other functions take any object. The text around the calls is free.
 */
export function callConstraint({
  format,
  tools,
  required,
  single,
  answerSchema,
}: CallConstraintOptions): OutputConstraint {
  const tags = tools.map((tool) => callTag(format, tool));
  const trigger = format.name === 'llama' ? '{"name": "' : format.marker;
  if (!answerSchema || required)
    return { type: 'structural_tag', triggers: [trigger], tags, required, single };
  const schema = answerSchema.type === 'json_schema' ? answerSchema.schema : { type: 'object' };
  return {
    type: 'structural_tag',
    triggers: [trigger, answerMarks.open],
    tags: [...tags, { begin: answerMarks.open, end: answerMarks.close, schema, at: answerSchema.at }],
    required: true,
    single,
  };
}

type CallTag = Extract<OutputConstraint, { type: 'structural_tag' }>['tags'][number];

function callTag(format: ToolFormat, tool: Tool): CallTag {
  const [begin, end] = [callOpening(format, tool.name), callClosing(format)];
  const where = { at: tool.at, ...(tool.type === 'custom' && { derived: true }) };
  const lark =
    tool.type === 'custom' && tool.grammar?.syntax === 'lark' ? tool.grammar.definition : undefined;
  if (format.name === 'qwen-xml') {
    if (lark === undefined) return { begin, end, parameters: schemaOf(tool), ...where };
    const [open, close] = [`<parameter=${rawInputName}>\n`, '\n</parameter>\n'];
    return { begin: begin + open, end: close + end, lark, raw: true, ...where };
  }
  if (lark !== undefined)
    return { begin: `${begin}{${JSON.stringify(rawInputName)}: "`, end: `"}${end}`, lark, ...where };
  return { begin, end, schema: schemaOf(tool), ...where };
}

function schemaOf(tool: Tool): Record<string, unknown> {
  if (tool.type === 'function') return tool.strict ? argumentsSchema(tool) : { type: 'object' };
  const schema = argumentsSchema(tool);
  if (tool.grammar?.syntax !== 'regex') return schema;
  const input = { type: 'string', pattern: `^(?:${tool.grammar.definition})$` };
  return { ...schema, properties: { [rawInputName]: input } };
}

/** JSON Schema of a tool's arguments for the model. */
function argumentsSchema(tool: Tool): Record<string, unknown> {
  if (tool.type === 'function') return tool.parameters ?? { type: 'object', properties: {} };
  return {
    type: 'object',
    properties: { [rawInputName]: { type: 'string' } },
    required: [rawInputName],
    additionalProperties: false,
  };
}

/** A tool in the form for chat templates. */
export function templateTool(tool: Tool) {
  const { name, description = '' } = tool;
  return { type: 'function', function: { name, description, parameters: argumentsSchema(tool) } };
}

/** The conversation for a template without tools: the system turn describes them, and calls and results are text. */
export function describeTools(
  messages: readonly ChatMessage[],
  tools: readonly Tool[],
  format: ToolFormat,
): ChatMessage[] {
  const turns = messages.map((message) => plainTurn(message, format));
  if (tools.length === 0) return turns;
  const lines = tools.map((tool) => JSON.stringify(templateTool(tool).function));
  const example = `${callOpening(format, 'the tool')}{…}${callClosing(format)}`;
  const description = [
    'You have access to the following tools:',
    ...lines,
    `Call a tool by writing ${example}. Its result comes in the next turn.`,
  ].join('\n');
  const [first, ...rest] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: description }, ...turns];
  return [{ ...first, content: `${first.content}\n\n${description}` }, ...rest];
}

function plainTurn(
  { toolCalls = [], toolCallId: _id, ...message }: ChatMessage,
  format: ToolFormat,
): ChatMessage {
  if (message.role === 'tool') {
    const content = `<tool_response>\n${message.content}\n</tool_response>`;
    return { role: 'user', content };
  }
  const calls = toolCalls.map(
    ({ name, input }) => `${callOpening(format, name)}${input || '{}'}${callClosing(format)}`,
  );
  return { ...message, content: [message.content, ...calls].filter((text) => text !== '').join('\n') };
}
