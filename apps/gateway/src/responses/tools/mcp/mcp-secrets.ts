import { invalidField } from '#contracts';
import type { ResponseTool } from '#responses';
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
export function hidesSecrets(tool: ResponseTool): boolean {
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
