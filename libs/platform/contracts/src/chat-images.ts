import { invalidField, MegaNestError } from './errors.js';
import { type AttachedFile, type ChatFile, type ChatMessage, maxImages } from './services/llm.js';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/** A text, the text of a file, or an image, in the order of the message. */
export type ContentPiece =
  | { text: string; file?: AttachedFile | undefined; image?: undefined }
  | { image: ChatImage; text?: undefined; file?: undefined };

/** What a turn says and shows. */
export type ChatContent = Pick<ChatMessage, 'content' | 'images' | 'files'>;

/** Joins the pieces of a turn: the texts become lines, and each image and file keeps its position in the text. */
export function joinPieces(pieces: readonly ContentPiece[]): ChatContent {
  const images: ChatImage[] = [];
  const files: ChatFile[] = [];
  let content: string | undefined;
  for (const { text, image, file } of pieces) {
    if (image) {
      images.push({ ...image, at: content?.length ?? 0 });
      continue;
    }
    const before = content === undefined ? '' : `${content}\n`;
    if (file) files.push({ ...file, at: before.length, length: text.length });
    content = before + text;
  }
  return {
    content: content ?? '',
    ...(images.length > 0 && { images }),
    ...(files.length > 0 && { files }),
  };
}

/** Splits a turn into its pieces. An image without a position, or with a position after the text, comes last. */
export function piecesOf({ content, images = [] }: Pick<ChatMessage, 'content' | 'images'>): ContentPiece[] {
  const pieces: ContentPiece[] = [];
  let from = 0;
  for (const image of images) {
    const at = Math.max(from, Math.min(image.at ?? content.length, content.length));
    if (at > from) pieces.push({ text: content.slice(from, at) });
    // Skips the line break that joined the texts before and after the image.
    from = at > 0 && content[at] === '\n' ? at + 1 : at;
    pieces.push({ image });
  }
  if (from < content.length) pieces.push({ text: content.slice(from) });
  return pieces;
}

/** Maximum total bytes of the images of one request: they are in memory as base64 on their way to the engine. */
const maxImageBytes = 64 * 1024 * 1024;

/** Limits the number and the total bytes of the images of one request, from any source. */
export class ImageBudget {
  #images = 0;
  #bytes = 0;

  constructor(private readonly limits = { images: maxImages, bytes: maxImageBytes }) {}

  /** Counts an image. `bytes` is 0 while its size is unknown. Errors: invalid_request, payload_too_large. */
  add(bytes: number, param: string): void {
    this.#count(param);
    this.#spend(bytes, param);
  }

  /**
   * Counts an image and reads it. `read` gets the rest of the total as its limit, or `maxBytes` if that is smaller, and
   * throws payload_too_large beyond it. Errors: invalid_request, payload_too_large, and the errors of `read`.
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
      // The image alone is within `maxBytes`, so it exceeds the total.
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
