import { randomBytes } from 'node:crypto';

/** Prefixes of OpenAI's ids, by what they name; `item` types that are not listed get `item`. */
const itemPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  local_shell_call: 'lsh',
  file_search_call: 'fs',
  web_search_call: 'ws',
  mcp_call: 'mcp',
  mcp_list_tools: 'mcpl',
  mcp_approval_request: 'mcpr',
  mcp_approval_response: 'mcpa',
  compaction: 'cmp',
};

/** A fresh id, 192 random bits behind its prefix: `resp_3f…`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}

/** A fresh id for an item of a type: `msg_…` for a message. */
export function newItemId(type: string): string {
  return newId(itemPrefixes[type] ?? 'item');
}
