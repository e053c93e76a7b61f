import {
  errorFromIssues,
  MegaNestError,
  metadataFilterSchema,
  parseOrThrow,
  type RetrievedDocument,
  type Tool,
} from '#platform/contracts';
import { collectionField } from '#api/dataprep-api';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { DocumentReader } from './document-reader.js';
import { findTool } from './find.tool.js';
import { assertMayUse, type McpTool, type McpToolResult } from './mcp-tool.js';
import { openTool } from './open.tool.js';
import { PassageSearch, searchTool } from './search.tool.js';
import { webSearchTool } from './web-search.tool.js';

const searchEntrySchema = z.strictObject({
  type: z.literal('search'),
  collection: collectionField.describe('The collection that the model searches'),
  filter: metadataFilterSchema.optional(),
  max_results: z.int().min(1).max(50).optional(),
});
const readingEntrySchema = z.strictObject({ type: z.enum(['find', 'open']) });

const webEntrySchema = z.strictObject({
  type: z.literal('web_search'),
  max_results: z.int().min(1).max(20).optional(),
});

const citing = 'Cite the passages that an answer rests on by their numbers, like [1].';

/** An entry of a request's `tools`. */
interface ToolEntry {
  type: string;
}

/** An entry as a tool for one request. */
export interface OpenedTool {
  /** The definition for the model, without the arguments that the entry sets. */
  readonly definition: Tool;
  /** Runs a call with the JSON that the model wrote. `numbered`: passages that were numbered before. */
  readonly run: (input: string, context: { call: HttpCall; numbered: number }) => Promise<ToolResult>;
}

/** A tool of the MCP server as a built-in tool of chats and responses, for a model that calls tools. */
export class BuiltInTool {
  constructor(
    private readonly tool: McpTool,
    private readonly schema: z.ZodType<ToolEntry>,
  ) {}

  /** The `type` of its entries. */
  get type(): string {
    return this.tool.name;
  }

  /** Errors: invalid_request with a path below `param` (`tools[2]`). */
  check(entry: ToolEntry, param: string): void {
    const { error } = this.schema.safeParse(entry);
    if (error)
      throw errorFromIssues(error.issues.map((issue) => ({ ...issue, path: [param, ...issue.path] })));
  }

  /** Errors: insufficient_scope. */
  open(entry: ToolEntry, call: Pick<HttpCall, 'caller'>): OpenedTool {
    assertMayUse(call, this.tool);
    // The model cannot choose what the entry sets.
    const { type: _type, ...rest } = parseOrThrow(this.schema, entry);
    const fixed: Readonly<Record<string, unknown>> = rest;
    const { name, description, inputSchema } = this.tool;
    const properties = Object.entries((inputSchema['properties'] ?? {}) as Record<string, unknown>);
    const free = Object.fromEntries(properties.filter(([property]) => fixed[property] === undefined));
    const parameters = { ...inputSchema, properties: free };
    return {
      definition: { type: 'function', name, description: `${description} ${citing}`, parameters },
      run: (input, context) =>
        attempt(() =>
          this.tool.run({ ...readArguments(input), ...fixed }, { ...context, progress: () => undefined }),
        ),
    };
  }
}

/** The built-in tools: `search`, `find` and `open`, and `web_search` where the operator names an endpoint. */
@Injectable()
export class BuiltInTools {
  /** Those over documents. */
  readonly ofDocuments: readonly BuiltInTool[];
  readonly #web: BuiltInTool | undefined;

  constructor(
    @Inject(PassageSearch) searches: PassageSearch,
    @Inject(DocumentReader) documents: DocumentReader,
    @Inject(gatewayEnvironment) settings: Pick<GatewayEnvironment, 'WEB_SEARCH_URL' | 'WEB_SEARCH_KEY'>,
  ) {
    const { WEB_SEARCH_URL: url, WEB_SEARCH_KEY: key } = settings;
    this.#web = url === undefined ? undefined : new BuiltInTool(webSearchTool({ url, key }), webEntrySchema);
    this.ofDocuments = [
      new BuiltInTool(searchTool(searches), searchEntrySchema),
      new BuiltInTool(findTool(documents), readingEntrySchema),
      new BuiltInTool(openTool(documents), readingEntrySchema),
    ];
  }

  /** The types of tools that are served. */
  get types(): string[] {
    return [...this.ofDocuments, ...(this.#web ? [this.#web] : [])].map(({ type }) => type);
  }

  find(type: string): BuiltInTool | undefined {
    return this.#web?.type === type ? this.#web : this.ofDocuments.find((tool) => tool.type === type);
  }
}

/** The result of a call for the model. */
export interface ToolResult {
  text: string;
  problem: boolean;
  found: readonly RetrievedDocument[];
}

/** The result for the model. An error of a tool, such as an unknown document, is a text that the model reads. */
async function attempt(work: () => Promise<McpToolResult>): Promise<ToolResult> {
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
