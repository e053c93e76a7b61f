import { MegaNestError } from '#platform/contracts';
import { type EncodedImage, imageTokensOf } from '#engine/vision';

/** What tells positions of prompts apart in the prefix cache: a token, or a part of an image. */
export type PositionKey = number | string;

/** Vectors that replace the embeddings of tokens. */
export interface ReplacedEmbeddings {
  /** Offsets of the tokens. */
  readonly offsets: readonly number[];
  /** One for each offset. */
  readonly vectors: readonly Float32Array[];
}

/** Where a part of an image is: the image, and the row of its embeddings. */
interface ImagePart {
  readonly image: EncodedImage;
  readonly row: number;
}

/** The images of a prompt: the embeddings of its image tokens. */
export class PromptImages {
  /** Tell positions apart: prompts with different images share only what is before them. */
  readonly keys: readonly PositionKey[];
  private readonly parts = new Map<number, ImagePart>();

  /** Errors: invalid_request if the image tokens of the prompt are not those of the images. */
  constructor(ids: readonly number[], imageTokenId: number, images: readonly EncodedImage[]) {
    const places = ids.flatMap((id, position) => (id === imageTokenId ? [position] : []));
    const wanted = images.reduce((sum, image) => sum + imageTokensOf(image), 0);
    if (places.length !== wanted) {
      const detail = `The prompt has ${places.length} image tokens, but its images have ${wanted}.`;
      throw new MegaNestError('invalid_request', { detail, param: 'messages' });
    }
    let next = 0;
    for (const image of images)
      for (let row = 0; row < imageTokensOf(image); row++) this.parts.set(places[next++]!, { image, row });
    this.keys = ids.map((id, position) => {
      const part = this.parts.get(position);
      return part ? `${part.image.key}:${part.row}` : id;
    });
  }

  /** Returns the vectors for the tokens at the positions `start` to `start + count − 1`. */
  within(start: number, count: number): ReplacedEmbeddings {
    const offsets: number[] = [];
    const vectors: Float32Array[] = [];
    for (let offset = 0; offset < count; offset++) {
      const part = this.parts.get(start + offset);
      if (!part) continue;
      const { embeddings } = part.image;
      const width = embeddings.length / imageTokensOf(part.image);
      offsets.push(offset);
      vectors.push(embeddings.subarray(part.row * width, (part.row + 1) * width));
    }
    return { offsets, vectors };
  }
}
