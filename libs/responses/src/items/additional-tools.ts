import type { ResponseTool } from '../response-object.js';
import type { StoredItem } from './input-items.js';

/** The tools of a request with those that items of its conversation add; of two with one name the later one counts. */
export function withAdditionalTools(
  tools: readonly ResponseTool[],
  items: readonly StoredItem[],
): ResponseTool[] {
  const added = items.flatMap((item) =>
    item.type === 'additional_tools' ? (item['tools'] as ResponseTool[]) : [],
  );
  if (added.length === 0) return [...tools];
  const byKey = new Map([...tools, ...added].map((tool, place) => [keyOf(tool, place), tool]));
  return [...byKey.values()];
}

/** Tools without a name, such as MCP servers, are never the same. */
function keyOf(tool: ResponseTool, place: number): string {
  const { type, name } = tool as { type: string; name?: unknown };
  return typeof name === 'string' ? `${type} ${name}` : String(place);
}
