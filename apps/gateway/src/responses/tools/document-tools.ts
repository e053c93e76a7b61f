import {
  errorFromIssues,
  MegaNestError,
  metadataFilterSchema,
  parseOrThrow,
  type ToolCall,
} from '#platform/contracts';
import { collectionField } from '#api/dataprep-api';
import { newItemId, type McpCall, type ResponseTool, type ToolStep } from '#api/responses';
import { z } from 'zod';
import type { DocumentReader } from '../../document-tools/document-reader.js';
import { findTool } from '../../document-tools/find.tool.js';
import { assertMayUse, type McpTool, type McpToolResult } from '../../document-tools/mcp-tool.js';
import { openTool } from '../../document-tools/open.tool.js';
import { searchTool, type PassageSearch } from '../../document-tools/search.tool.js';
import type { OpenedTools, ServerTool, ServerToolSource, ToolContext, ToolOutcome } from './server-tool.js';

/** The label of this server in the items of its calls. */
const serverLabel = 'meganest';

/** The fields of an entry that the caller sets; the model cannot choose others. */
type Fixed = Readonly<Record<string, unknown>>;

const searchEntrySchema = z.strictObject({
  type: z.literal('search'),
  collection: collectionField.describe('The collection that the model searches'),
  filter: metadataFilterSchema.optional(),
  max_results: z.int().min(1).max(50).optional(),
});
const readingEntrySchema = z.strictObject({ type: z.enum(['find', 'open']) });

/** `search`, `find` and `open` of the MCP server as built-in tools of a response, for a model that calls tools. */
export function documentToolSources(searches: PassageSearch, documents: DocumentReader): ServerToolSource[] {
  return [
    new DocumentToolSource(searchTool(searches), searchEntrySchema),
    new DocumentToolSource(findTool(documents), readingEntrySchema),
    new DocumentToolSource(openTool(documents), readingEntrySchema),
  ];
}

class DocumentToolSource implements ServerToolSource {
  constructor(
    private readonly tool: McpTool,
    private readonly schema: z.ZodType<{ type: string }>,
  ) {}

  get type(): string {
    return this.tool.name;
  }

  check(entry: ResponseTool, param: string): void {
    const { error } = this.schema.safeParse(entry);
    if (error)
      throw errorFromIssues(error.issues.map((issue) => ({ ...issue, path: [param, ...issue.path] })));
  }

  /** Errors: insufficient_scope. */
  // oxlint-disable-next-line require-yield
  async *open(entry: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void> {
    await Promise.resolve();
    assertMayUse(context.call, this.tool);
    const { type: _type, ...fixed } = parseOrThrow(this.schema, entry);
    return { tools: [serverTool(this.tool, fixed)] };
  }
}

function serverTool(tool: McpTool, fixed: Fixed): ServerTool {
  const { name, description, inputSchema } = tool;
  const properties = Object.entries((inputSchema['properties'] ?? {}) as Record<string, unknown>);
  const free = Object.fromEntries(properties.filter(([property]) => fixed[property] === undefined));
  const parameters = { ...inputSchema, properties: free };
  return {
    definition: { type: 'function', name, description: `${description} ${citing}`, parameters },
    call: (call, context) => run(tool, fixed, call, context),
  };
}

const citing = 'Cite the passages that an answer rests on by their numbers, like [1].';

/** Runs a call, and shows it as the call of an MCP server, which is the form that clients know. */
async function* run(
  tool: McpTool,
  fixed: Fixed,
  { input }: ToolCall,
  { call, documents }: ToolContext,
): AsyncGenerator<ToolStep, ToolOutcome, void> {
  const item: McpCall = {
    id: newItemId('mcp_call'),
    type: 'mcp_call',
    status: 'in_progress',
    server_label: serverLabel,
    name: tool.name,
    arguments: '',
    output: null,
    error: null,
    approval_request_id: null,
  };
  const { id } = item;
  yield { type: 'item_added', item };
  yield { type: 'item_progress', id, phase: 'in_progress' };
  yield { type: 'item_arguments', id, arguments: input };
  const { text, problem, found } = await attempt(() =>
    tool.run(
      { ...readArguments(input), ...fixed },
      { call, progress: () => undefined, numbered: documents.length },
    ),
  );
  call.signal.throwIfAborted();
  yield { type: 'item_progress', id, phase: problem ? 'failed' : 'completed' };
  const error: McpCall['error'] = problem
    ? { type: 'mcp_tool_execution_error', content: [{ type: 'text', text }] }
    : null;
  const status = problem ? 'failed' : 'completed';
  yield {
    type: 'item_done',
    item: { ...item, status, arguments: input, output: problem ? null : text, error },
  };
  return { output: text, documents: found };
}

interface Attempted {
  text: string;
  problem: boolean;
  found: NonNullable<McpToolResult['documents']>;
}

/** The result for the model. An error of a tool, such as an unknown document, is a text that the model reads. */
async function attempt(work: () => Promise<McpToolResult>): Promise<Attempted> {
  try {
    const { text, documents = [] } = await work();
    return { text, problem: false, found: documents };
  } catch (thrown) {
    const { message } = MegaNestError.from(thrown, 'gateway');
    return { text: `The tool failed: ${message}`, problem: true, found: [] };
  }
}

/** Errors: invalid_request. */
function readArguments(input: string): Record<string, unknown> {
  return parseOrThrow(argumentsSchema, input.trim() === '' ? '{}' : input);
}

const argumentsSchema = z.string().transform((text, context): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The issue below says it.
  }
  context.addIssue({ code: 'custom', message: 'the arguments are not a JSON object' });
  return z.NEVER;
});
