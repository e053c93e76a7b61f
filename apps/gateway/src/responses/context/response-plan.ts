import type { ModelInfo } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import type { ImageUse, Include, ResponseObject, StoredItem } from '#api/responses';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { modalitiesOf, textOnly } from '../../chat/chat-model.js';
import type { ResolvedChat } from '../../chat/chat.service.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import type { ToolSecrets } from '../tools/server-tool.js';

/** The input of a generation. It is stored with a background response, so that another process can restart it. */
export interface GenerationJob {
  chat: ResolvedChat;
  truncation: 'auto' | 'disabled';
  /** The query for the documents, where the model is a mega service with a search. */
  searchQuery: string | null;
  includeSearchResults: boolean;
  /** The optional output that the caller asked for. */
  include: Include[];
  /** `generate: false`: the model reads the conversation and writes no answer. */
  warmUp?: boolean;
  /** The compaction of the conversation before the generation. */
  compaction?: PlannedCompaction;
  /** Items of the conversation that are not turns, for the tools that the server runs: approvals, lists of tools. */
  toolItems: StoredItem[];
  /** The sealed secrets of the request that its tools need; absent where they may not be stored. */
  toolSecrets?: string;
}

/** A compaction that belongs to a response. */
export interface PlannedCompaction {
  /** Tokens at which the server compacts; null: at four fifths of the window. */
  threshold: number | null;
  /** The response contains only the compaction and no answer. */
  only: boolean;
  /** The whole conversation with its sealed items opened, without instructions. */
  items: StoredItem[];
  instructions: string | null;
}

/** A response that is about to be made. */
export interface ResponsePlan {
  owner: string;
  /** The response object at its start. */
  initial: ResponseObject;
  /** The earlier items of the conversation, which the response object does not repeat. */
  context: readonly StoredItem[];
  /** The new items of the request, references resolved. */
  inputItems: StoredItem[];
  job: GenerationJob;
  /** Name of the language model; absent where the request leaves the choice to the server. */
  languageModel?: string | undefined;
  /** Secrets of the request that its tools need; stored only sealed, and only with a background response. */
  toolSecrets: ReadonlyMap<string, ToolSecrets>;
  /** Fields of the request without effect. */
  ignored: string[];
}

export interface ImageUseOptions {
  /** The caller's choice for images where the model does not accept images; absent: the server's default. */
  wanted?: 'refuse' | 'describe';
  /** The mega service that answers; absent: the language model itself. */
  megaService?: MegaServiceDefinition | undefined;
  call: HttpCall;
}

/** Asks for the abilities of a response's language model: images, calls of tools, defaults. */
@Injectable()
export class ModelAbilities {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** The treatment of images. Asks for the modalities of the model only for an image. Errors: service_unavailable. */
  async images(
    items: readonly StoredItem[],
    { wanted, megaService, call }: ImageUseOptions,
  ): Promise<ImageUse> {
    if (!hasImages(items)) return { refuse: textOnly };
    const modalities = megaService
      ? await this.models.inputOf(megaService, call)
      : modalitiesOf(await this.models.llm(call));
    if (modalities.includes('image')) return 'take';
    const use = wanted ?? this.environment.RESPONSES_IMAGE_INPUT;
    return use === 'describe' ? 'describe' : { refuse: modalities };
  }

  /** Whether the model of a response calls tools. True where it is unavailable: the generation reports that error. */
  async callsTools(definition: MegaServiceDefinition | undefined, call: HttpCall): Promise<boolean> {
    if (definition) return this.models.takesForms(definition, call);
    const info = await this.models.llm(call).catch(() => undefined);
    return info?.callsTools !== false;
  }

  /** Name of the language model that answers; for a mega service, the model in its definition. */
  languageModel(definition: MegaServiceDefinition | undefined, name: string | undefined): string | undefined {
    return definition ? this.models.nameOf(definition) : name;
  }

  /** The model's default parameters; undefined where it is unavailable, since the generation reports that error. */
  async defaults(call: HttpCall): Promise<ModelInfo['defaults']> {
    const info = await this.models.llm(call).catch(() => undefined);
    return info?.defaults;
  }
}

const isImage = (part: { type?: unknown } | null) => part?.type === 'input_image';

function hasImages(items: readonly StoredItem[]): boolean {
  // A compacted context may contain images, which are sealed.
  return items.some(
    ({ type, content, output }) =>
      type === 'compaction' || [content, output].some((parts) => Array.isArray(parts) && parts.some(isImage)),
  );
}
