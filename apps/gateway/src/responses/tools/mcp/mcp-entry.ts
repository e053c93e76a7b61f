import { errorFromIssues, invalidField, MegaNestError, unsupportedField } from '#contracts';
import { NotSealedHereError, type ResponseTool, type Sealer } from '#responses';
import { z } from 'zod';
import type { ToolSecrets } from '../server-tool.js';

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
interface FilteredTool {
  name: string;
  readOnly: boolean;
}

/** Errors: invalid_request with a path below `param`; unsupported_parameter for OpenAI's own connectors. */
export function parseMcpEntry(entry: ResponseTool, param: string): McpEntry {
  for (const name of ['connector_id', 'tunnel_id']) {
    if (entry[name as keyof typeof entry] === undefined) continue;
    throw unsupportedField(`${param}.${name}`, "is a service of OpenAI's; give server_url");
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

interface SeparatedTools {
  /** The tools as the response repeats them. */
  tools: ResponseTool[];
  /** By server label; in memory only, for as long as the response is made. */
  secrets: Map<string, ToolSecrets>;
}

/** Most MCP servers of a request. */
const mostServers = 16;

const redacted = '<redacted>';

/**
 * Takes out of the tools of a request what must be neither stored nor sent back: the path and query of MCP servers' URLs,
 * the values of their headers, their tokens. Errors: invalid_request for a label that is used twice.
 */
export function separateSecrets(tools: readonly ResponseTool[]): SeparatedTools {
  const secrets: SeparatedTools['secrets'] = new Map();
  if (tools.filter(({ type }) => type === 'mcp').length > mostServers) {
    throw invalidField('tools', `at most ${mostServers} MCP servers are supported`);
  }
  const shown = tools.map((tool, index) => {
    if (tool.type !== 'mcp') return tool;
    const entry = tool as Record<string, unknown>;
    const label = String(entry['server_label']);
    if (secrets.has(label)) {
      const param = `tools[${index}].server_label`;
      throw invalidField(param, `${label} is used twice`);
    }
    const { server_url: url, authorization, headers } = entry;
    secrets.set(label, {
      url: text(url),
      authorization: text(authorization),
      headers: isRecord(headers) ? (headers as Record<string, string>) : {},
    });
    return {
      ...tool,
      ...(typeof url === 'string' && { server_url: withoutPath(url) }),
      ...(isRecord(headers) && { headers: mapValues(headers) }),
      ...(authorization !== undefined && { authorization: redacted }),
    };
  });
  return { tools: shown, secrets };
}

/** Whether a tool, as the response repeats it, was given something that is not repeated. */
function hidesSecrets(tool: ResponseTool): boolean {
  return tool.type === 'mcp' && JSON.stringify(tool).includes(redacted);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function withoutPath(url: string): string {
  if (!URL.canParse(url)) return redacted;
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/${redacted}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, redacted]));
}

const secretsSchema = z.array(
  z.tuple([
    z.string(),
    z.object({
      url: z.string().optional(),
      authorization: z.string().optional(),
      headers: z.record(z.string(), z.string()),
    }),
  ]),
);

/**
 * The keys of a background response's MCP servers as they are kept with its job, for whoever takes it over; undefined
 * where there are none. `keysAreElsewhere`: the sealing keys come from the configuration. Where they lie in the database
 * beside what they seal, sealing would keep nothing from anybody, so that nothing is kept.
 */
export function keptSecrets(
  secrets: ReadonlyMap<string, ToolSecrets>,
  { sealer, owner, keysAreElsewhere }: { sealer: Sealer; owner: string; keysAreElsewhere: boolean },
): string | undefined {
  if (secrets.size === 0 || !keysAreElsewhere) return undefined;
  return sealer.seal({ kind: 'tool_secrets', owner }, JSON.stringify([...secrets]));
}

/**
 * The keys again, in the process that took the response over. Errors: internal_error that says what to do, where tools
 * need keys and none were kept, or none that can be opened.
 */
export function openSecrets(
  kept: string | undefined,
  tools: readonly ResponseTool[],
  { sealer, owner }: { sealer: Sealer; owner: string },
): Map<string, ToolSecrets> {
  if (kept === undefined) {
    if (!tools.some(hidesSecrets)) return new Map();
    throw lost(
      'its MCP servers need keys, which are kept only where RESPONSES_ENCRYPTION_KEYS is set; ask again',
    );
  }
  try {
    const opened = secretsSchema.parse(JSON.parse(sealer.open({ kind: 'tool_secrets', owner }, kept)));
    return new Map(
      opened.map(([label, { url, authorization, headers }]) => [label, { url, authorization, headers }]),
    );
  } catch (cause) {
    if (!(cause instanceof NotSealedHereError)) throw cause;
    throw lost('the keys of its MCP servers were sealed by a gateway with other keys; ask again', cause);
  }
}

function lost(detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('internal_error', { service: 'gateway', detail, cause });
}
