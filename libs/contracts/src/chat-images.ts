import { invalidField, MegaNestError } from './errors.js';
import { type ChatMessage, maxImages } from './services/llm.js';

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

/** Most bytes of all images of one request together: they are held in memory as base64 on their way to the engine. */
const maxImageBytes = 64 * 1024 * 1024;

/** Keeps the images of one request within their number and their total of bytes, wherever each of them comes from. */
export class ImageBudget {
  #images = 0;
  #bytes = 0;

  constructor(private readonly limits = { images: maxImages, bytes: maxImageBytes }) {}

  /** Counts an image of so many bytes; 0 where they are not known yet. Errors: invalid_request, payload_too_large. */
  add(bytes: number, param: string): void {
    this.#count(param);
    this.#spend(bytes, param);
  }

  /**
   * Counts an image and reads it, with no more bytes than are left: `read` gets that limit, or `maxBytes` where it is
   * less, and throws payload_too_large beyond it. Errors: invalid_request, payload_too_large; those of `read`.
   */
  async load(
    { param, maxBytes = Infinity }: { param: string; maxBytes?: number },
    read: (maxBytes: number) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    this.#count(param);
    const left = this.limits.bytes - this.#bytes;
    let bytes: Uint8Array;
    try {
      bytes = await read(Math.min(maxBytes, left));
    } catch (error) {
      // It would have fitted alone: what it exceeds is the total.
      const isTotal = left < maxBytes && error instanceof MegaNestError && error.code === 'payload_too_large';
      throw isTotal ? this.#tooMuch(param) : error;
    }
    this.#spend(bytes.length, param);
    return bytes;
  }

  #count(param: string): void {
    this.#images += 1;
    if (this.#images <= this.limits.images) return;
    throw invalidField(param, `a request takes at most ${this.limits.images} images`);
  }

  #spend(bytes: number, param: string): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.bytes) throw this.#tooMuch(param);
  }

  #tooMuch(param: string): MegaNestError {
    const what = 'The size of all images of the request together';
    return new MegaNestError('payload_too_large', { what, limit: `${this.limits.bytes} bytes`, param });
  }
}
