import type OpenAI from 'openai';
import type { Response } from './response-events.js';

type Mcp = OpenAI.Responses.Tool.Mcp;
type McpCall = OpenAI.Responses.ResponseOutputItem.McpCall;

/** A tool that is a server's tools, called without approval unless `more` says otherwise. */
export const mcpTool = (server_label: string, server_url: string, more: Partial<Mcp>): Mcp => ({
  type: 'mcp',
  server_label,
  server_url,
  require_approval: 'never',
  ...more,
});

/** The types of a response's items, in order. */
export const typesOf = ({ output }: Response) => output.map(({ type }) => type);

/** Its calls of MCP tools. */
export const callsOf = ({ output }: Response) =>
  output.filter((item): item is McpCall => item.type === 'mcp_call');

/** The names of the tools that its lists hold. */
export const namesOf = ({ output }: Response) =>
  output.flatMap((item) => (item.type === 'mcp_list_tools' ? item.tools.map(({ name }) => name) : []));

/** The approval that it asks for. Errors: none is asked for. */
export const approvalOf = ({ output }: Response) => {
  const item = output.find(({ type }) => type === 'mcp_approval_request');
  if (item?.type !== 'mcp_approval_request') throw new Error('No approval was asked for');
  return item;
};
