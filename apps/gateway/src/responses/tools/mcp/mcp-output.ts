import type { ChatMessage } from '#contracts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { imageTypeOf } from '../../../input-files/image-bytes.js';

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

/** Images of one result that a model is shown, and characters of base64 of each. */
const mostImages = 4;
const longestImage = 6 * 1024 * 1024;

type ChatImages = NonNullable<ChatMessage['images']>;

/** The images of a result that a model can be shown: the first of those that are a PNG, JPEG, GIF or WebP of a bearable size. */
export function shownImages({ content }: CallToolResult): ChatImages {
  const images = content.flatMap((part): ChatImages => {
    if (part.type !== 'image' || part.data.length > longestImage) return [];
    const type = knownType(part.data);
    return type === undefined ? [] : [{ url: `data:${type};base64,${part.data}` }];
  });
  return images.slice(0, mostImages);
}

/** By the content: what a server calls it is no help to the engine. */
function knownType(data: string): string | undefined {
  try {
    return imageTypeOf(Buffer.from(data, 'base64'), 'image');
  } catch {
    return undefined;
  }
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
