import { ImageBudget, MegaNestError, type ChatMessage, type ModelInfo } from '#contracts';
import { sizeOfDataUrl } from '../input-files/image-bytes.js';

/** What a model reads: `text`, `image`. */
export type Modalities = NonNullable<ModelInfo['modalities']>;

/** Of a mega service, and of models that say nothing else. */
export const textOnly: Modalities = ['text'];

export function modalitiesOf({ modalities = textOnly }: ModelInfo): Modalities {
  return modalities;
}

/**
 * Errors: unsupported_parameter with the path of the first image, where the model takes none; invalid_request with that of
 * the first one that is too many, payload_too_large where those that are here are too large together.
 */
export function assertTakesImages(messages: readonly ChatMessage[], modalities: Modalities): void {
  const images = messages.flatMap((message) => message.images ?? []);
  if (modalities.includes('image')) {
    const budget = new ImageBudget();
    for (const { url = '', param = 'messages' } of images) budget.add(sizeOfDataUrl(url), param);
    return;
  }
  const [image] = images;
  if (!image) return;
  const param = image.param ?? 'messages';
  const detail = `${param}: images are not supported: the model's input is ${modalities.join(' and ')} only`;
  throw new MegaNestError('unsupported_parameter', { detail, param });
}
