import type { ChatMessage } from './services/llm.js';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/** A text, or an image, in the order in which they were said. */
export type ContentPiece = { text: string; image?: undefined } | { image: ChatImage; text?: undefined };

/** The content of a turn out of its pieces: the texts as lines, and each image with its place among them. */
export function joinPieces(pieces: readonly ContentPiece[]): Pick<ChatMessage, 'content' | 'images'> {
  const images: ChatImage[] = [];
  let content: string | undefined;
  for (const { text, image } of pieces) {
    if (image) images.push({ ...image, at: content?.length ?? 0 });
    else content = content === undefined ? text : `${content}\n${text}`;
  }
  return { content: content ?? '', ...(images.length > 0 && { images }) };
}

/** The pieces of a turn again; an image without a place, or with one behind the text, comes last. */
export function piecesOf({ content, images = [] }: Pick<ChatMessage, 'content' | 'images'>): ContentPiece[] {
  const pieces: ContentPiece[] = [];
  let from = 0;
  for (const image of images) {
    const at = Math.max(from, Math.min(image.at ?? content.length, content.length));
    if (at > from) pieces.push({ text: content.slice(from, at) });
    // The line break that joined the texts before and behind the image.
    from = at > 0 && content[at] === '\n' ? at + 1 : at;
    pieces.push({ image });
  }
  if (from < content.length) pieces.push({ text: content.slice(from) });
  return pieces;
}
