import {
  MegaNestError,
  parseOrThrow,
  toJsonSchema,
  type JsonSchema,
  type RetrievedDocument,
} from '#platform/contracts';
import type { HttpCall, Scope } from '#platform/service-kit';
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';

/** What a tool gets of the call besides its arguments. */
export interface McpToolContext {
  /** Its signal aborts when the client cancels the call. */
  call: HttpCall;
  /** Reports a step of the work to a client that asked for its progress. */
  progress: (step: McpProgress) => void;
  /** Passages that were numbered before; the numbers of a result continue after them. */
  numbered?: number;
}

/** A step of the work of a tool. */
export interface McpProgress {
  /** Rises with each step. */
  progress: number;
  total?: number;
  message?: string;
}

/** The result of a tool: the text for a model, and the same as data that matches the output schema. */
export interface McpToolResult {
  text: string;
  structured: Record<string, unknown>;
  /** The passages that the text shows with numbers, in their order, for the citations of a later answer. */
  documents?: readonly RetrievedDocument[];
  /** The result says that the work failed. */
  isError?: boolean;
}

/** A tool over documents or mega services, in the form of the Model Context Protocol. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Absent where the output has no fixed form. */
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** The scope that the caller's key needs. */
  readonly scope: Scope;
  /** Errors: MegaNestError, which the model reads as the result. */
  readonly run: (args: Record<string, unknown>, context: McpToolContext) => Promise<McpToolResult>;
}

interface ToolDeclaration<Input extends z.ZodType> {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: z.ZodObject;
  annotations: ToolAnnotations;
  scope: Scope;
  run: (args: z.output<Input>, context: McpToolContext) => Promise<McpToolResult>;
}

/** Declares a tool by the schemas of its arguments and of its result. */
export function defineTool<Input extends z.ZodType>(declaration: ToolDeclaration<Input>): McpTool {
  const { input, output, run, ...rest } = declaration;
  return {
    ...rest,
    inputSchema: toJsonSchema(input, 'input', {}),
    outputSchema: toJsonSchema(output, 'output', {}),
    run: (args, context) => run(parseOrThrow(input, args), context),
  };
}

/** Refuses a tool that the caller's key may not use. Errors: insufficient_scope. */
export function assertMayUse({ caller }: Pick<HttpCall, 'caller'>, { scope }: Pick<McpTool, 'scope'>): void {
  if (!mayUse({ caller }, { scope }))
    throw new MegaNestError('insufficient_scope', { key: caller?.name, scope });
}

/** Whether the caller's key has the scope of a tool. Without keys each caller has all scopes. */
export function mayUse({ caller }: Pick<HttpCall, 'caller'>, { scope }: Pick<McpTool, 'scope'>): boolean {
  return !caller || caller.scopes.has(scope) || caller.scopes.has('admin');
}

/** Annotations of a tool that only reads what MegaNest has stored. */
export const readsOnly: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
