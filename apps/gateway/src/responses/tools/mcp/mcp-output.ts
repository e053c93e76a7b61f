import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** Characters of a result that the model is told. */
const longestOutput = 100_000;

/** The result of a call as text: what is no text is named. */
export function outputOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map(partText).filter((text) => text !== '');
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join('\n');
  return text.length > longestOutput
    ? `${text.slice(0, longestOutput)}\n[cut: ${text.length} characters]`
    : text;
}

function partText(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type}: ${part.mimeType}]`;
    case 'resource_link':
      return `[resource: ${part.name} ${part.uri}]`;
    default:
      return 'text' in part.resource ? part.resource.text : `[resource: ${part.resource.uri}]`;
  }
}
