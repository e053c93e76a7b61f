import type { generate, ParsedRequestOf } from '#contracts';

/** How a model writes calls. */
export interface ToolFormat {
  readonly name: 'hermes' | 'plain-hermes' | 'llama' | 'mistral' | 'mistral-args' | 'qwen-xml';
  /** The chat template writes the tools, and earlier calls and results, by itself. */
  readonly inTemplate: boolean;
  /** What a call begins with in the text, without spaces at its end. */
  readonly marker: string;
  /** What stands in front of a call's JSON, or of its name where that is not within. */
  readonly open: string;
  /** What stands behind the call. */
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

/** The same on one line, for templates that know nothing of tools: the system turn describes it. nano-chat learned it so. */
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

/** Mistral since: `[TOOL_CALLS]name[ARGS]{…}`. */
const mistralArgs: ToolFormat = { ...mistral, name: 'mistral-args', open: '[TOOL_CALLS]', close: '' };

/** Qwen3-Coder: `<tool_call>\n<function=name>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>`. */
const qwenXml: ToolFormat = {
  ...hermes,
  name: 'qwen-xml',
  open: '<tool_call>\n<function=',
  close: '</function>\n</tool_call>',
};

/** The format that a chat template teaches. */
export function detectToolFormat(template: string): ToolFormat {
  if (template.includes('<tool_call>')) return template.includes('<function=') ? qwenXml : hermes;
  if (template.includes('[TOOL_CALLS]')) return template.includes('[ARGS]') ? mistralArgs : mistral;
  if (template.includes('"parameters": ') && /python_tag|ipython/.test(template)) return llama;
  return plainHermes;
}

/** Everything of a call to the tool that stands before its arguments. */
export function callOpening({ name: format, open, argumentsKey }: ToolFormat, name: string): string {
  if (format === 'qwen-xml') return `${open}${name}>\n`;
  if (format === 'mistral-args') return `${open}${name}[ARGS]`;
  return `${open}{"name": ${JSON.stringify(name)}, "${argumentsKey}": `;
}

/** What follows the arguments. */
export function callClosing({ name: format, close }: ToolFormat): string {
  return format === 'qwen-xml' || format === 'mistral-args' ? close : `}${close}`;
}

/** A validated request of `llm.generate`. */
export type GenerateRequest = ParsedRequestOf<typeof generate>;
