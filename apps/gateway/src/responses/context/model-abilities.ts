import type { ModelInfo } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import type { ImageUse, StoredItem } from '#responses';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { modalitiesOf, textOnly } from '../../chat/chat-model.js';
import { ModelCatalog } from '../../models/model-catalog.js';

export interface ImageUseOptions {
  /** What the caller wants of images where the model takes none; the server's own default where absent. */
  wanted?: 'refuse' | 'describe';
  isMegaService: boolean;
  call: HttpCall;
}

/** What the language model of a response does with images, and where its request says nothing. */
@Injectable()
export class ModelAbilities {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** What becomes of images. The model is asked what it reads only where there is an image. Errors: service_unavailable. */
  async images(
    items: readonly StoredItem[],
    { wanted, isMegaService, call }: ImageUseOptions,
  ): Promise<ImageUse> {
    if (!hasImages(items)) return { refuse: textOnly };
    const modalities = isMegaService ? textOnly : modalitiesOf(await this.models.llm(call));
    if (modalities.includes('image')) return 'take';
    const use = wanted ?? this.environment.RESPONSES_IMAGE_INPUT;
    return use === 'describe' ? 'describe' : { refuse: modalities };
  }

  /** Whether the model of a response calls tools; one that is away is taken to do so, which shows when it is asked. */
  async callsTools(definition: MegaServiceDefinition | undefined, call: HttpCall): Promise<boolean> {
    if (definition) return this.models.takesForms(definition, call);
    const info = await this.models.llm(call).catch(() => undefined);
    return info?.callsTools !== false;
  }

  /** The model that a request's name stands for. Errors: service_unavailable. */
  named(name: string | undefined, call: HttpCall): Promise<string | undefined> {
    return this.models.named(name, 'answers', call);
  }

  /** What it does where a request says nothing; where it is away, that shows when it is asked to answer. */
  async defaults(call: HttpCall): Promise<ModelInfo['defaults']> {
    const info = await this.models.llm(call).catch(() => undefined);
    return info?.defaults;
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
