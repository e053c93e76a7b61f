import { invalidField, MegaNestError } from './errors.js';

/** Most images of one request, those said earlier in its conversation included. */
export const maxImages = 32;
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
