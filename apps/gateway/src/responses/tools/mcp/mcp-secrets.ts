import { invalidField, MegaNestError } from '#contracts';
import { NotSealedHereError, type ResponseTool, type Sealer } from '#responses';
import { z } from 'zod';
import type { ToolSecrets } from '../server-tool.js';

export interface SeparatedTools {
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
