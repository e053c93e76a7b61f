import { invalidField, type ChatMessage } from '#platform/contracts';
import {
  type EncodedImage,
  type GivenImage,
  type ImageLayout,
  imageTokensOf,
  type ReadImage,
  type VisionEncoder,
} from '#engine/vision';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/** The images of a conversation, in the order in which its prompt shows them. */
export function imagesOf(messages: readonly ChatMessage[] | string): ChatImage[] {
  if (typeof messages === 'string') return [];
  return messages.flatMap(({ images = [] }) => images);
}

/** The images of a conversation that were read, and their tokens. */
export interface ReadImages<Read extends ImageLayout> {
  readonly images: readonly Read[];
  readonly tokens: number;
}

/**
 * Reads the images of a conversation one after the other. Stops as soon as their tokens fill the context, so that
 * `tokens` is at least `contextLength` then. Errors: the errors of `read`.
 */
export async function readImages<Read extends ImageLayout>(
  messages: readonly ChatMessage[] | string,
  contextLength: number,
  read: (image: GivenImage) => Promise<Read>,
): Promise<ReadImages<Read>> {
  const images: Read[] = [];
  let tokens = 0;
  for (const image of imagesOf(messages)) {
    const one = await read(givenImage(image));
    images.push(one);
    tokens += imageTokensOf(one);
    if (tokens >= contextLength) break;
  }
  return { images, tokens };
}

/** Computes the embeddings of images one after the other. Errors: see {@link VisionEncoder.encode}. */
export async function encodeImages(
  vision: VisionEncoder,
  images: readonly ReadImage[],
  signal?: AbortSignal,
): Promise<EncodedImage[]> {
  const encoded: EncodedImage[] = [];
  for (const image of images) encoded.push(await vision.encode(image, signal));
  return encoded;
}

/** Returns a conversation without the data of its images, whose places stay. */
export function withoutImageData(messages: readonly ChatMessage[] | string): readonly ChatMessage[] | string {
  if (typeof messages === 'string') return messages;
  return messages.map(({ images, ...message }) =>
    images ? { ...message, images: images.map(({ at }) => ({ at })) } : message,
  );
}

/** `detail: "low"` shows the whole image alone; `high` and `auto` also show its tiles. */
function givenImage({ url = '', detail, param = 'messages' }: ChatImage): GivenImage {
  const data = /^data:[^,]*;base64,/.exec(url);
  if (!data) throw invalidField(param, 'must be a base64 data URL');
  return { bytes: Buffer.from(url.slice(data[0].length), 'base64'), whole: detail === 'low', param };
}
