import { MegaNestError, type ChatMessage, type ModelInfo } from '#contracts';

/** What a model reads: `text`, `image`. */
export type Modalities = NonNullable<ModelInfo['modalities']>;

/** Of a mega service, and of models that say nothing else. */
export const textOnly: Modalities = ['text'];

export function modalitiesOf({ modalities = textOnly }: ModelInfo): Modalities {
  return modalities;
}

/** Errors: unsupported_parameter with the path of the first image, where the model takes none. */
export function assertTakesImages(messages: readonly ChatMessage[], modalities: Modalities): void {
  const [image] = modalities.includes('image') ? [] : messages.flatMap(({ images = [] }) => images);
  if (!image) return;
  const param = image.param ?? 'messages';
  const detail = `${param}: images are not supported: the model's input is ${modalities.join(' and ')} only`;
  throw new MegaNestError('unsupported_parameter', { detail, param });
}
