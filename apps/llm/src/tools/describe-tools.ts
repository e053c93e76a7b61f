import type { ChatMessage, Tool } from '#contracts';
import { callClosing, callOpening, type ToolFormat } from './tool-format.js';
import { rawInputName } from './raw-input.js';

/** JSON Schema of a tool's arguments, as the model gets it. */
export function argumentsSchema(tool: Tool): Record<string, unknown> {
  if (tool.type === 'function') return tool.parameters ?? { type: 'object', properties: {} };
  return {
    type: 'object',
    properties: { [rawInputName]: { type: 'string' } },
    required: [rawInputName],
    additionalProperties: false,
  };
}

/** A tool as chat templates take it. */
export function templateTool(tool: Tool) {
  const { name, description = '' } = tool;
  return { type: 'function', function: { name, description, parameters: argumentsSchema(tool) } };
}

/** The conversation for a template that knows no tools: described in the system turn, calls and results as text. */
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
