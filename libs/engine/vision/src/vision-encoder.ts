import { createHash } from 'node:crypto';
import { WorkerChannel } from '#engine/models';
import { builtFile } from '#platform/foundation';
import { EmbeddingCache, type EncodedImage } from './embedding-cache.js';
import type { ImageLayout } from './image-prompt.js';
import { PictureReader } from './picture/picture-reader.js';
import type { TileTask, VisionReady, VisionSettings } from './vision.worker.js';

/** An image of a request. */
export interface GivenImage {
  /** The bytes of a PNG, JPEG or WebP file. */
  readonly bytes: Uint8Array;
  /** The whole image in one tile, without the tiles that show its details. */
  readonly whole: boolean;
  /** Its path in the caller's request, for errors. */
  readonly param: string;
}

/** An image that was decoded and cut: its tiles, or its embeddings if they are known. */
export type ReadImage = EncodedImage | (Omit<EncodedImage, 'embeddings'> & { readonly tiles: Uint8Array });

/** Bytes of the embeddings of images that are kept for later requests: some 25 images of SmolVLM-256M. */
const keptBytes = 64 * 1024 * 1024;
/** Images whose number of tiles is kept. */
const keptLayouts = 1_000;

/**
 * The eyes of a vision-language model. Pictures are decoded in one thread, and the vision tower has another, so that
 * answers are written meanwhile.
 */
export class VisionEncoder {
  private readonly known = new EmbeddingCache(keptBytes);
  private readonly pictures = new PictureReader();
  /** Of the last images that were read, by their keys. */
  private readonly layouts = new Map<string, ImageLayout>();
  private encoding: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly tower: WorkerChannel<VisionReady, TileTask, never, Float32Array>,
    private readonly ready: VisionReady,
  ) {}

  /** Compiles and loads the vision tower of a model. Errors: ModelLoadError. */
  static async load(settings: VisionSettings, hangLimitMs?: number): Promise<VisionEncoder> {
    const tower = new WorkerChannel<VisionReady, TileTask, never, Float32Array>(
      builtFile('vision.worker'),
      settings,
      hangLimitMs,
    );
    try {
      return new VisionEncoder(tower, await tower.start());
    } catch (error) {
      await tower.close();
      throw error;
    }
  }

  /** Decodes an image and cuts it into tiles. Errors: see {@link PictureReader.read}. */
  read(image: GivenImage, signal?: AbortSignal): Promise<ReadImage> {
    return this.readAs(keyOf(image), image, signal);
  }

  /** Returns the tiles of an image, of which it decodes one that it has not read lately. Errors: see {@link read}. */
  async measure(image: GivenImage, signal?: AbortSignal): Promise<ImageLayout> {
    const key = keyOf(image);
    return this.layouts.get(key) ?? this.readAs(key, image, signal);
  }

  private async readAs(key: string, image: GivenImage, signal?: AbortSignal): Promise<ReadImage> {
    const known = this.known.find(key);
    if (known) return known;
    const { pictures: settings, tokensPerTile } = this.ready;
    const { rows, columns, tiles } = await this.pictures.read({ ...image, settings }, signal);
    const layout = { rows, columns, tokensPerTile };
    this.layouts.set(key, layout);
    for (const oldest of this.layouts.keys()) {
      if (this.layouts.size <= keptLayouts) break;
      this.layouts.delete(oldest);
    }
    return { ...layout, key, tiles };
  }

  /** Computes the embeddings of an image, tile by tile. Errors: cancelled, service_unavailable. */
  encode(image: ReadImage, signal?: AbortSignal): Promise<EncodedImage> {
    if ('embeddings' in image) return Promise.resolve(image);
    const { tiles, ...rest } = image;
    const encoded = this.encoding.then(async () => {
      const known = this.known.find(image.key);
      if (known) return known;
      const computed = { ...rest, embeddings: await this.compute(tiles, signal) };
      this.known.add(computed);
      return computed;
    });
    this.encoding = encoded.catch(() => undefined);
    return encoded;
  }

  async close(): Promise<void> {
    await Promise.all([this.tower.close(), this.pictures.close()]);
  }

  private async compute(tiles: Uint8Array, signal?: AbortSignal): Promise<Float32Array> {
    const length = this.ready.pictures.tileSize ** 2 * 3;
    const parts: Float32Array[] = [];
    // A part of its own: a message takes the whole memory of an array along.
    for (let start = 0; start < tiles.length; start += length)
      parts.push(await this.tower.call({ tile: tiles.slice(start, start + length) }, { signal }));
    const width = parts[0]!.length;
    const embeddings = new Float32Array(parts.length * width);
    parts.forEach((part, index) => embeddings.set(part, index * width));
    return embeddings;
  }
}

function keyOf({ bytes, whole }: GivenImage): string {
  return createHash('sha256')
    .update(whole ? 'whole' : 'tiles')
    .update(bytes)
    .digest('hex');
}
