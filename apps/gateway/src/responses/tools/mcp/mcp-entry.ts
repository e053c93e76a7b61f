import { MegaNestError, errorFromIssues } from '#contracts';
import type { ResponseTool } from '#responses';
import { z } from 'zod';

/** Names of tools, and headers, of one entry. */
const mostNames = 512;
const mostHeaders = 32;
const longestHeader = 8_192;

/** Headers that say how a request travels: those are the connection's own. */
const travelHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const headersSchema = z.record(z.string(), z.string().max(longestHeader)).superRefine((headers, context) => {
  const refuse = (message: string, path: string[] = []) =>
    context.addIssue({ code: 'custom', path, message });
  if (Object.keys(headers).length > mostHeaders) refuse(`must be at most ${mostHeaders}`);
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name)) refuse('is not a header name', [name]);
    else if (travelHeaders.has(name.toLowerCase())) refuse('is set by the connection itself', [name]);
    // A value is sent as Latin-1, and an end of a line would begin another header.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) refuse('holds a character that no header can', [name]);
  }
});

const namesSchema = z.array(z.string().max(256)).max(mostNames);

const filterSchema = z.strictObject({
  tool_names: namesSchema.optional(),
  read_only: z.boolean().optional(),
});
type ToolFilter = z.infer<typeof filterSchema>;

const entrySchema = z.looseObject({
  type: z.literal('mcp'),
  server_label: z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes and underscores'),
  server_url: z.string().optional(),
  server_description: z.string().max(4_096).nullish(),
  authorization: z.string().max(16_384).nullish(),
  headers: headersSchema.nullish(),
  allowed_tools: z.union([namesSchema, filterSchema]).nullish(),
  require_approval: z
    .union([
      z.enum(['always', 'never']),
      z.strictObject({ always: filterSchema.optional(), never: filterSchema.optional() }),
    ])
    .nullish(),
});

/** An entry of type `mcp` of a request's tools. */
export type McpEntry = z.infer<typeof entrySchema>;

/** What a filter looks at. */
export interface FilteredTool {
  name: string;
  readOnly: boolean;
}

/** Errors: invalid_request with a path below `param`; unsupported_parameter for OpenAI's own connectors. */
export function parseMcpEntry(entry: ResponseTool, param: string): McpEntry {
  for (const name of ['connector_id', 'tunnel_id']) {
    if (entry[name as keyof typeof entry] === undefined) continue;
    const detail = `${param}.${name}: is a service of OpenAI's; give server_url`;
    throw new MegaNestError('unsupported_parameter', { detail, param: `${param}.${name}` });
  }
  const parsed = entrySchema.safeParse(entry);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [param, ...issue.path] }));
    throw errorFromIssues(issues);
  }
  return parsed.data;
}

/** Whether the caller lets the model have a tool; all of them where nothing is said. */
export function isAllowed({ allowed_tools: allowed }: McpEntry, tool: FilteredTool): boolean {
  if (!allowed) return true;
  return Array.isArray(allowed) ? allowed.includes(tool.name) : matches(allowed, tool);
}

/** Whether the caller is to be asked before a tool is called: always, where nothing else is said. */
export function needsApproval({ require_approval: when }: McpEntry, tool: FilteredTool): boolean {
  if (!when || when === 'always') return true;
  if (when === 'never') return false;
  if (when.always && matches(when.always, tool)) return true;
  return !(when.never && matches(when.never, tool));
}

/** An empty filter matches nothing. */
function matches({ tool_names: names, read_only: readOnly }: ToolFilter, tool: FilteredTool): boolean {
  if (names === undefined && readOnly === undefined) return false;
  const named = names?.includes(tool.name) ?? true;
  return named && (readOnly === undefined || readOnly === tool.readOnly);
}
