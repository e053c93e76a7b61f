import type { OutputConstraint, Tool } from '#contracts';
import { argumentsSchema } from './describe-tools.js';
import { rawInputName } from './raw-input.js';
import { callClosing, callOpening, type ToolFormat } from './tool-format.js';

/** Marks around an answer in a form of its own, where the model may call tools in its place; the reader removes them. */
export const answerMarks = { open: '<answer>', close: '</answer>' };

export interface CallConstraintOptions {
  format: ToolFormat;
  /** The tools that may be called. */
  tools: readonly Tool[];
  /** There must be a call. */
  required: boolean;
  /** At most one call. */
  single: boolean;
  /** JSON schema of an answer without a call. */
  answerSchema?: OutputConstraint & { type: 'json_schema' | 'json_object' };
}

/**
 * Constrains calls to the names and arguments of their tools: those of strict functions to their schema, those of others to
 * any object. The text around the calls is free.
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
    tags: [...tags, { begin: answerMarks.open, end: answerMarks.close, schema }],
    required: true,
    single,
  };
}

type CallTag = Extract<OutputConstraint, { type: 'structural_tag' }>['tags'][number];

function callTag(format: ToolFormat, tool: Tool): CallTag {
  const [begin, end] = [callOpening(format, tool.name), callClosing(format)];
  const lark =
    tool.type === 'custom' && tool.grammar?.syntax === 'lark' ? tool.grammar.definition : undefined;
  if (format.name === 'qwen-xml') {
    if (lark === undefined) return { begin, end, parameters: schemaOf(tool) };
    const [open, close] = [`<parameter=${rawInputName}>\n`, '\n</parameter>\n'];
    return { begin: begin + open, end: close + end, lark, raw: true };
  }
  if (lark !== undefined)
    return { begin: `${begin}{${JSON.stringify(rawInputName)}: "`, end: `"}${end}`, lark };
  return { begin, end, schema: schemaOf(tool) };
}

function schemaOf(tool: Tool): Record<string, unknown> {
  if (tool.type === 'function') return tool.strict ? argumentsSchema(tool) : { type: 'object' };
  const schema = argumentsSchema(tool);
  if (tool.grammar?.syntax !== 'regex') return schema;
  const input = { type: 'string', pattern: `^(?:${tool.grammar.definition})$` };
  return { ...schema, properties: { [rawInputName]: input } };
}
