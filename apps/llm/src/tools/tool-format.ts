/** How a model writes calls. */
export interface ToolFormat {
  readonly name: 'hermes' | 'plain-hermes' | 'llama';
  /** The chat template writes the tools, and earlier calls and results, by itself. */
  readonly inTemplate: boolean;
  /** What a call begins with in the text. */
  readonly open: string;
  /** Characters of `open` in front of the call's JSON. */
  readonly prefix: number;
  /** What stands behind the call's JSON. */
  readonly close: string;
  readonly argumentsKey: 'arguments' | 'parameters';
}

/** Qwen 2.5 and 3, Hermes: `<tool_call>\n{"name": …, "arguments": …}\n</tool_call>`. */
const hermes: ToolFormat = {
  name: 'hermes',
  inTemplate: true,
  open: '<tool_call>\n',
  prefix: 12,
  close: '\n</tool_call>',
  argumentsKey: 'arguments',
};

/** The same on one line, for templates that know nothing of tools: the system turn describes it. nano-chat learned it so. */
const plainHermes: ToolFormat = {
  ...hermes,
  name: 'plain-hermes',
  inTemplate: false,
  open: '<tool_call>',
  prefix: 11,
  close: '</tool_call>',
};

/** Llama 3.1 and later: the answer is `{"name": …, "parameters": …}`. */
const llama: ToolFormat = {
  name: 'llama',
  inTemplate: true,
  open: '{"name": ',
  prefix: 0,
  close: '',
  argumentsKey: 'parameters',
};

/**
 * The format that a chat template teaches. Templates with calls in a form of their own (Qwen3-Coder's XML, Mistral's
 * brackets) are told of the tools in the system turn instead.
 */
export function detectToolFormat(template: string): ToolFormat {
  if (template.includes('<tool_call>') && !template.includes('<function=')) return hermes;
  if (template.includes('"parameters": ') && /python_tag|ipython/.test(template)) return llama;
  return plainHermes;
}

/** Where the JSON of a call to the tool begins its arguments. */
export function callOpening({ open, prefix, argumentsKey }: ToolFormat, name: string): string {
  return `${open.slice(0, prefix)}{"name": ${JSON.stringify(name)}, "${argumentsKey}": `;
}

/** What follows the arguments. */
export function callClosing({ close }: ToolFormat): string {
  return `}${close}`;
}
