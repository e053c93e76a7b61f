import type { ModelInfo } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import type { ChatCompletionRequest } from '#openai-api';
import type { ImageUse, Include, ResponseObject, StoredItem } from '#responses';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { modalitiesOf, textOnly } from '../../chat/chat-model.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import type { ToolSecrets } from '../tools/server-tool.js';

/** All that generating a response takes: kept with a background response, so that another process can start it again. */
export interface GenerationJob {
  chat: ChatCompletionRequest;
  truncation: 'auto' | 'disabled';
  /** What the documents are searched for, where the model is a mega service that searches. */
  searchQuery: string | null;
  includeSearchResults: boolean;
  /** What the caller asked to see beyond the usual. */
  include: Include[];
  /** `generate: false`: the model reads the conversation and says nothing. */
  warmUp?: boolean;
  /** Compacts the conversation before it goes on. */
  compaction?: PlannedCompaction;
  /** Items of the conversation that are no turns, for the tools that the server runs: approvals, lists of tools. */
  toolItems: StoredItem[];
  /** What tools need of the request and is not shown, sealed; absent where it may not be kept. */
  toolSecrets?: string;
}

/** A compaction that belongs to a response. */
export interface PlannedCompaction {
  /** Tokens from which on it is done; null: where four fifths of the window are full. */
  threshold: number | null;
  /** The response is the compaction, and has no answer. */
  only: boolean;
  /** The whole conversation, readable, without instructions. */
  items: StoredItem[];
  instructions: string | null;
}

/** A response that is about to be made. */
export interface ResponsePlan {
  owner: string;
  /** The response as it begins. */
  initial: ResponseObject;
  /** What was said before, of which the response object repeats nothing. */
  context: readonly StoredItem[];
  /** The new items of the request, references resolved. */
  inputItems: StoredItem[];
  job: GenerationJob;
  /** The language model that is asked, where that is a certain one. */
  languageModel?: string | undefined;
  /** Secrets of the request that tools need; kept only sealed, and only with a background response. */
  toolSecrets: ReadonlyMap<string, ToolSecrets>;
  /** Fields of the request without effect. */
  ignored: string[];
}

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

  /** The language model that answers: of a mega service, that of its file. */
  languageModel(definition: MegaServiceDefinition | undefined, name: string | undefined): string | undefined {
    return definition ? this.models.nameOf(definition) : name;
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
