import { errorFromIssues, invalidField, MegaNestError, unsupportedField } from '#platform/contracts';
import { NotSealedHereError, type ResponseTool, type Sealer } from '#api/responses';
import { z } from 'zod';
import type { ToolSecrets } from '../server-tool.js';

/** Limits for the names of tools and for the headers of one entry. */
const maxNames = 512;
const maxHeaders = 32;
const maxHeaderLength = 8_192;

/** Headers about the transport of a request, which only the connection may set. */
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

const headersSchema = z
  .record(z.string(), z.string().max(maxHeaderLength))
  .superRefine((headers, context) => {
    const refuse = (message: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', path, message });
    if (Object.keys(headers).length > maxHeaders) refuse(`must be at most ${maxHeaders}`);
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name)) refuse('is not a header name', [name]);
      else if (travelHeaders.has(name.toLowerCase())) refuse('is set by the connection itself', [name]);
      // A value is sent as Latin-1. A line break would begin another header.
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
        refuse('contains a character that is not allowed in a header', [name]);
    }
  });

const namesSchema = z.array(z.string().max(256)).max(maxNames);

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

/** The properties of a tool that a filter compares. */
interface FilteredTool {
  name: string;
  readOnly: boolean;
}

/** Errors: invalid_request with a path below `param`; unsupported_parameter for OpenAI's own connectors. */
export function parseMcpEntry(entry: ResponseTool, param: string): McpEntry {
  for (const name of ['connector_id', 'tunnel_id']) {
    if (entry[name as keyof typeof entry] === undefined) continue;
    throw unsupportedField(`${param}.${name}`, 'is available only at OpenAI; send server_url instead');
  }
  const parsed = entrySchema.safeParse(entry);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [param, ...issue.path] }));
    throw errorFromIssues(issues);
  }
  return parsed.data;
}

/** Whether the caller allows a tool for the model; without `allowed_tools` every tool is allowed. */
export function isAllowed({ allowed_tools: allowed }: McpEntry, tool: FilteredTool): boolean {
  if (!allowed) return true;
  return Array.isArray(allowed) ? allowed.includes(tool.name) : matches(allowed, tool);
}

/** Whether a call of a tool needs the caller's approval; always without `require_approval`. */
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
  /** The tools as the response object shows them. */
  tools: ResponseTool[];
  /** Secrets by server label; in memory only, until the response ends. */
  secrets: Map<string, ToolSecrets>;
}

/** Limit for the MCP servers of a request. */
const maxServers = 16;

const redacted = '<redacted>';

/**
 * Separates the secrets of a request's tools, which must be neither stored nor sent back: the path and query of MCP
 * servers' URLs, the values of their headers, their tokens. Errors: invalid_request for a label that is used twice.
 */
export function separateSecrets(tools: readonly ResponseTool[]): SeparatedTools {
  const secrets: SeparatedTools['secrets'] = new Map();
  if (tools.filter(({ type }) => type === 'mcp').length > maxServers) {
    throw invalidField('tools', `at most ${maxServers} MCP servers are supported`);
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

/** Whether the response object shows a tool without some of its secrets. */
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
 * The sealed secrets of a background response's MCP servers, which are stored with its job for a process that takes it
 * over; undefined without secrets. `keysAreElsewhere`: the sealing keys come from the configuration. Sealing keys that
 * are stored in the same database would protect nothing, so that the secrets are not stored in that case.
 */
export function keptSecrets(
  secrets: ReadonlyMap<string, ToolSecrets>,
  { sealer, owner, keysAreElsewhere }: { sealer: Sealer; owner: string; keysAreElsewhere: boolean },
): string | undefined {
  if (secrets.size === 0 || !keysAreElsewhere) return undefined;
  return sealer.seal({ kind: 'tool_secrets', owner }, JSON.stringify([...secrets]));
}

/**
 * Opens the stored secrets in the process that took the response over. Errors: internal_error with advice, where tools
 * need secrets that were not stored or cannot be opened.
 */
export function openSecrets(
  kept: string | undefined,
  tools: readonly ResponseTool[],
  { sealer, owner }: { sealer: Sealer; owner: string },
): Map<string, ToolSecrets> {
  if (kept === undefined) {
    if (!tools.some(hidesSecrets)) return new Map();
    throw lost(
      'its MCP servers need keys, which are stored only with RESPONSES_ENCRYPTION_KEYS; send the request again',
    );
  }
  try {
    const opened = secretsSchema.parse(JSON.parse(sealer.open({ kind: 'tool_secrets', owner }, kept)));
    return new Map(
      opened.map(([label, { url, authorization, headers }]) => [label, { url, authorization, headers }]),
    );
  } catch (cause) {
    if (!(cause instanceof NotSealedHereError)) throw cause;
    throw lost('a gateway with other keys sealed the keys of its MCP servers; send the request again', cause);
  }
}

function lost(detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('internal_error', { service: 'gateway', detail, cause });
}
