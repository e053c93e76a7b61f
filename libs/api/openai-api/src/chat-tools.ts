import {
  invalidField,
  unsupportedField,
  type ModelInfo,
  type Tool,
  type ToolChoice,
} from '#platform/contracts';
import { z } from 'zod';

const toolName = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits, underscores, dots, colons and dashes');

const functionSchema = z.looseObject({
  name: toolName,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});
type FunctionDefinition = z.output<typeof functionSchema>;

const customSchema = z.looseObject({
  name: toolName,
  description: z.string().nullish(),
  format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({
        type: z.literal('grammar'),
        grammar: z.looseObject({ syntax: z.enum(['lark', 'regex']), definition: z.string() }),
      }),
    ])
    .nullish(),
});

/** Tools that the gateway runs. The rest of an entry is checked where the tool is known. */
const serverToolSchema = z.looseObject({ type: z.enum(['search', 'find', 'open', 'web_search']) });
type ServerToolEntry = z.output<typeof serverToolSchema>;

const toolSchema = z.discriminatedUnion('type', [
  serverToolSchema,
  z.looseObject({ type: z.literal('function'), function: functionSchema }),
  z.looseObject({ type: z.literal('custom'), custom: customSchema }),
]);

const namedChoice = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
  z.looseObject({ type: z.literal('custom'), custom: z.looseObject({ name: z.string() }) }),
]);
const choiceSchema = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.discriminatedUnion('type', [
      ...namedChoice.options,
      z.looseObject({
        type: z.literal('allowed_tools'),
        allowed_tools: z.looseObject({
          mode: z.enum(['auto', 'required']),
          tools: z.array(namedChoice).min(1),
        }),
      }),
    ]),
  ],
  'must be none, auto, required, or name a function, a custom tool or allowed_tools',
);

/** The fields of a chat completion request that concern tools, the deprecated ones included. */
export const chatToolsSchema = z.looseObject({
  tools: z.array(toolSchema).max(512).nullish(),
  tool_choice: choiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tool_calls: z.int().min(1).nullish().describe('Maximum calls of the tools that the gateway runs'),
  functions: z.array(functionSchema).max(512).nullish(),
  function_call: z
    .union([z.enum(['none', 'auto']), z.looseObject({ name: z.string() })], 'must be none, auto or a name')
    .nullish(),
});
type ToolFields = z.output<typeof chatToolsSchema>;

export interface ChatTools {
  tools?: Tool[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: boolean;
  /** Tools that the gateway runs, with their place in the request. */
  serverTools?: { entry: ServerToolEntry; param: string }[];
  /** Maximum calls of these tools. */
  maxToolCalls?: number;
  /** The caller uses the deprecated `functions`, so the answer has `function_call`. */
  legacyFunctions?: true;
}

/**
 * The tools of a request. Errors: invalid_request for two tools with one name, for a choice that is not among the
 * tools, and for a request with both the deprecated and the current fields.
 */
export function chatTools(fields: ToolFields): ChatTools {
  const { function_call: functionCall } = fields;
  // An empty list means "not set".
  const functions = fields.functions?.length ? fields.functions : undefined;
  if (functions && fields.tools?.length) throw invalidField('functions', 'give tools or functions, not both');
  const { tools, serverTools } = functions
    ? {
        tools: functions.map((definition, index) => functionTool(definition, `functions[${index}]`)),
        serverTools: [],
      }
    : separated(fields.tools ?? []);
  const names = functions ? tools.map(({ name }) => name) : (fields.tools ?? []).map(nameOfTool);
  assertUnique(names, functions ? 'functions' : 'tools');
  const toolChoice = functions ? legacyChoice(functionCall) : toChoice(fields.tool_choice);
  assertChoosable(toolChoice, names, functions ? 'function_call' : 'tool_choice');
  const limit = typeof fields.max_tool_calls === 'number' ? { maxToolCalls: fields.max_tool_calls } : {};
  if (names.length === 0) return limit;
  const single = functions ? false : (fields.parallel_tool_calls ?? undefined);
  return {
    ...limit,
    ...(tools.length > 0 && { tools }),
    ...(serverTools.length > 0 && { serverTools }),
    ...(toolChoice && { toolChoice }),
    ...(single !== undefined && { parallelToolCalls: single }),
    ...(functions && { legacyFunctions: true }),
  };
}

function separated(entries: readonly z.output<typeof toolSchema>[]) {
  const tools: Tool[] = [];
  const serverTools: NonNullable<ChatTools['serverTools']> = [];
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'function' || entry.type === 'custom') tools.push(toTool(entry, index));
    else serverTools.push({ entry, param: `tools[${index}]` });
  }
  return { tools, serverTools };
}

function nameOfTool(tool: z.output<typeof toolSchema>): string {
  if (tool.type === 'function') return tool.function.name;
  return tool.type === 'custom' ? tool.custom.name : tool.type;
}

/**
 * The request without the tools that the model or mega service cannot call, and the names of the fields without effect.
 * `runsServerTools`: the gateway runs `serverTools` for this model. Errors: unsupported_parameter if the request
 * requires a call that cannot be made.
 */
export function callableTools<Request extends ChatTools>(
  request: Request,
  { id, callsTools }: Pick<ModelInfo, 'id' | 'callsTools'>,
  runsServerTools = false,
): { request: Request; ignored: string[] } {
  const { tools, serverTools, toolChoice, legacyFunctions, maxToolCalls } = request;
  const [field, choice] = legacyFunctions ? ['functions', 'function_call'] : ['tools', 'tool_choice'];
  const isRun = serverTools !== undefined && runsServerTools && callsTools !== false;
  const limit = maxToolCalls !== undefined && !isRun ? ['max_tool_calls'] : [];
  if ((tools || serverTools) && callsTools === false) {
    if (toolChoice?.mode === 'required') throw unsupportedField(choice, `${id} cannot call tools`);
    const ignored = toolChoice?.mode === 'none' ? limit : [field, ...limit];
    return { request: withoutTools(request), ignored };
  }
  if (!serverTools || isRun) return { request, ignored: limit };
  const { request: rest, ignored } = withoutServerTools(request, serverTools, id);
  return { request: rest, ignored: [...ignored, ...limit] };
}

function withoutTools<Request extends ChatTools>(request: Request): Request {
  const { tools: _tools, serverTools: _entries, toolChoice: _choice, ...rest } = request;
  const { parallelToolCalls: _parallel, maxToolCalls: _max, ...others } = rest;
  return others as Request;
}

function withoutServerTools<Request extends ChatTools>(
  request: Request,
  serverTools: NonNullable<ChatTools['serverTools']>,
  id: string,
): { request: Request; ignored: string[] } {
  const { tools = [], toolChoice } = request;
  const isLeft = (name: string) => tools.some((tool) => tool.name === name);
  const names = toolChoice?.names?.filter(isLeft);
  if (toolChoice?.mode === 'required' && (names ?? tools).length === 0)
    throw unsupportedField('tool_choice', `${id} does not run tools of the server`);
  const ignored = serverTools.map(({ entry }) => `tools.${entry.type}`);
  if (tools.length === 0 || names?.length === 0) return { request: withoutTools(request), ignored };
  const { serverTools: _entries, maxToolCalls: _max, ...rest } = request;
  return {
    request: { ...rest, ...(toolChoice && names && { toolChoice: { ...toolChoice, names } }) } as Request,
    ignored,
  };
}

function toTool(tool: Exclude<z.output<typeof toolSchema>, ServerToolEntry>, index: number): Tool {
  if (tool.type === 'function') return functionTool(tool.function, `tools[${index}].function`);
  const { name, description, format } = tool.custom;
  const grammar = format?.type === 'grammar' ? format.grammar : undefined;
  return {
    type: 'custom',
    name,
    ...(typeof description === 'string' && { description }),
    ...(grammar && { grammar: { syntax: grammar.syntax, definition: grammar.definition } }),
    at: `tools[${index}].custom.format.grammar.definition`,
  };
}

function functionTool({ name, description, parameters, strict }: FunctionDefinition, path: string): Tool {
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    ...(parameters && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    at: `${path}.parameters`,
  };
}

function toChoice(choice: ToolFields['tool_choice']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === 'string') return { mode: choice };
  if (choice.type !== 'allowed_tools') return { mode: 'required', names: [nameOf(choice)] };
  const { mode, tools } = choice.allowed_tools;
  return { mode, names: tools.map(nameOf) };
}

function nameOf(choice: z.output<typeof namedChoice>): string {
  return choice.type === 'function' ? choice.function.name : choice.custom.name;
}

function legacyChoice(choice: ToolFields['function_call']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  return typeof choice === 'string' ? { mode: choice } : { mode: 'required', names: [choice.name] };
}

function assertUnique(names: readonly string[], param: string): void {
  const index = names.findIndex((name, place) => names.indexOf(name) !== place);
  if (index !== -1) throw invalidField(`${param}[${index}]`, `another tool has the name ${names[index]}`);
}

function assertChoosable(choice: ToolChoice | undefined, names: readonly string[], param: string): void {
  const missing = choice?.names?.find((name) => !names.includes(name));
  if (missing !== undefined) throw invalidField(param, `${missing} is not among the tools`);
  if (choice?.mode === 'required' && names.length === 0) throw invalidField(param, 'there are no tools');
}
