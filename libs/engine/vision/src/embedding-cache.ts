import type { ImageLayout } from './image-prompt.js';

/** An image as the text model sees it. */
export interface EncodedImage extends ImageLayout {
  /** Identifies the image and its tiles: equal keys have equal embeddings. */
  readonly key: string;
  /** `[image tokens, embeddingSize]`, in the order of the tokens in the prompt. */
  readonly embeddings: Float32Array;
}

/** Embeddings of the last images. Above its capacity it drops the one that was not used for the longest time. */
export class EmbeddingCache {
  /** In the order of their last use. */
  private readonly images = new Map<string, EncodedImage>();
  private bytes = 0;

  constructor(private readonly capacityBytes: number) {}

  find(key: string): EncodedImage | undefined {
    const image = this.images.get(key);
    if (!image) return undefined;
    this.images.delete(key);
    this.images.set(key, image);
    return image;
  }

  add(image: EncodedImage): void {
    if (this.images.has(image.key)) return;
    this.images.set(image.key, image);
    this.bytes += image.embeddings.byteLength;
    for (const [key, { embeddings }] of this.images) {
      if (this.bytes <= this.capacityBytes) return;
      this.images.delete(key);
      this.bytes -= embeddings.byteLength;
    }
  }
}
