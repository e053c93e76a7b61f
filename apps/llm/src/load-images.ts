import { ImageBudget, invalidField, MegaNestError, unsupportedField, type ChatMessage } from '#contracts';
import type { ObjectStore } from '#messaging';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/**
 * The conversation with the images that lie in the object store in it, as data URLs; one after the other, within what the
 * images of a request may have. Errors: not_found; invalid_request, payload_too_large with the path of the image.
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

/** What comes counts, not what its sender says of its size. */
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

/** Errors: unsupported_parameter where the model takes no images; invalid_request for one not in the request, or too many. */
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
    throw invalidField(param, 'must be a data URL here; the gateway fetches addresses');
  }
}
