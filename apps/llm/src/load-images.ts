import { MegaNestError, type ChatMessage } from '#contracts';
import type { ObjectStore } from '#messaging';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/** The conversation with the images that lie in the object store in it, as data URLs. Errors: not_found. */
export async function loadImages(
  messages: readonly ChatMessage[],
  objects: Pick<ObjectStore, 'get'>,
): Promise<ChatMessage[]> {
  const loaded: ChatMessage[] = [];
  for (const message of messages) {
    const { images } = message;
    loaded.push(
      images
        ? { ...message, images: await Promise.all(images.map((image) => load(image, objects))) }
        : message,
    );
  }
  return loaded;
}

async function load({ file, ...image }: ChatImage, objects: Pick<ObjectStore, 'get'>): Promise<ChatImage> {
  if (!file) return image;
  const pieces: Uint8Array[] = [];
  for await (const piece of objects.get(file.objectId)) pieces.push(piece);
  return { ...image, url: `data:${file.mimeType};base64,${Buffer.concat(pieces).toString('base64')}` };
}

/** Errors: unsupported_parameter where the model takes no images; invalid_request for one that is not in the request. */
export function assertImages(
  messages: readonly ChatMessage[],
  modalities: readonly string[] = ['text'],
): void {
  for (const { url, param = 'messages' } of messages.flatMap(({ images = [] }) => images)) {
    if (!modalities.includes('image')) {
      const detail = `${param}: images are not supported: the model's input is ${modalities.join(' and ')} only`;
      throw new MegaNestError('unsupported_parameter', { detail, param });
    }
    if (url?.startsWith('data:')) continue;
    const detail = `${param}: must be a data URL here; the gateway fetches addresses`;
    throw new MegaNestError('invalid_request', { detail, param });
  }
}
