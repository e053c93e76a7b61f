import type { ImageUse, StoredItem } from '#responses';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../gateway.environment.js';
import { modalitiesOf, textOnly } from '../../openai/modalities.js';
import { ModelCatalog } from '../../openai/model-catalog.js';

export interface ImageUseOptions {
  /** What the caller wants of images where the model takes none; the server's own default where absent. */
  wanted?: 'refuse' | 'describe';
  isMegaService: boolean;
  call: HttpCall;
}

/** Decides what becomes of the images of a conversation. */
@Injectable()
export class ImageUses {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** The model is asked what it reads only where there is an image. Errors: service_unavailable. */
  async of(
    items: readonly StoredItem[],
    { wanted, isMegaService, call }: ImageUseOptions,
  ): Promise<ImageUse> {
    if (!hasImages(items)) return { refuse: textOnly };
    const modalities = isMegaService ? textOnly : modalitiesOf(await this.models.llm(call));
    if (modalities.includes('image')) return 'take';
    const use = wanted ?? this.environment.RESPONSES_IMAGE_INPUT;
    return use === 'describe' ? 'describe' : { refuse: modalities };
  }
}

const isImage = (part: { type?: unknown } | null) => part?.type === 'input_image';

function hasImages(items: readonly StoredItem[]): boolean {
  // A compacted context may hold images, sealed.
  return items.some(
    ({ type, content, output }) =>
      type === 'compaction' || [content, output].some((parts) => Array.isArray(parts) && parts.some(isImage)),
  );
}
