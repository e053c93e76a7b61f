import {
  ImageBudget,
  invalidField,
  MegaNestError,
  unsupportedField,
  type ChatMessage,
} from '#platform/contracts';
import type { ObjectStore } from '#platform/messaging';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/**
 * Loads the images of a conversation from the object store as data URLs, one after the other, within the limits for the
 * images of a request. Errors: not_found; invalid_request and payload_too_large with the path of the image.
 */
export async function loadImages(
  messages: readonly ChatMessage[],
  objects: Pick<ObjectStore, 'get'>,
  budget = new ImageBudget(),
): Promise<ChatMessage[]> {
  const loaded: ChatMessage[] = [];
  for (const message of messages) {
    const { images } = message;
    if (!images) {
      loaded.push(message);
      continue;
    }
    const inPlace: ChatImage[] = [];
    for (const image of images) inPlace.push(await load(image, objects, budget));
    loaded.push({ ...message, images: inPlace });
  }
  return loaded;
}

async function load(
  { file, ...image }: ChatImage,
  objects: Pick<ObjectStore, 'get'>,
  budget: ImageBudget,
): Promise<ChatImage> {
  const { url = '', param = 'messages' } = image;
  if (!file) {
    budget.add(Math.ceil((url.length * 3) / 4), param);
    return image;
  }
  const bytes = await budget.load({ param }, (most) => read(objects.get(file.objectId), most, param));
  return { ...image, url: `data:${file.mimeType};base64,${Buffer.from(bytes).toString('base64')}` };
}

/** Limits the received bytes, because the declared size may be wrong. */
async function read(content: AsyncIterable<Uint8Array>, most: number, param: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > most)
      throw new MegaNestError('payload_too_large', { what: 'The image', limit: `${most} bytes`, param });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Errors: unsupported_parameter where the model takes no images; invalid_request for a URL or too many images. */
export function assertImages(
  messages: readonly ChatMessage[],
  modalities: readonly string[] = ['text'],
): void {
  const counted = new ImageBudget();
  for (const { url, param = 'messages' } of messages.flatMap(({ images = [] }) => images)) {
    if (!modalities.includes('image')) {
      const reason = `images are not supported: the model's input is ${modalities.join(' and ')} only`;
      throw unsupportedField(param, reason);
    }
    counted.add(0, param);
    if (url?.startsWith('data:')) continue;
    throw invalidField(param, 'must be a data URL here; only the gateway fetches URLs');
  }
}
