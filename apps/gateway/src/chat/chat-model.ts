import {
  ImageBudget,
  unsupportedField,
  type ChatMessage,
  type GenerationChunk,
  type ModelInfo,
  type TemplateVariables,
} from '#contracts';
import type { RunReceipt } from '#dag';
import type { ChatCompletionRequest, CompletionIdentity } from '#openai-api';
import type { HttpCall } from '#service-kit';
import { randomUUID } from 'node:crypto';
import { sizeOfDataUrl } from '../input-files/input-files.js';

/** A chat under way: its chunks, and what its bodies and headers need to know. */
export interface ChatRun {
  identity: CompletionIdentity;
  chunks: AsyncIterable<GenerationChunk>;
  /** Fields of the request without effect, for `x-meganest-ignored`. */
  ignored: string[];
  /** Where the time went, for mega services. */
  receipt?: () => RunReceipt;
}

/** The model of one chat, opened for a request that the model can serve. */
export interface ChatModel {
  /** A mega service answers, which finds its own documents; otherwise the language model. */
  readonly isMegaService: boolean;
  /** The language model that it asks, where that is a certain one. */
  readonly languageModel?: string | undefined;
  /** The model calls the tools of the caller. */
  readonly callsTools: boolean;
  /** The model reads images. */
  readonly takesImages: boolean;
  /** Fields of the request without effect. */
  readonly ignored: readonly string[];
  /** Starts an answer. Errors of the generation surface in the chunks. */
  start(request: ChatCompletionRequest, call: HttpCall): ChatRun;
}

/** A new identity of an answer of `model`. */
export function newIdentity(model: string): CompletionIdentity {
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

/** Whether a message instructs the model. */
export function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** The instructions as an ignored field, where the model does not follow any because it only quotes. */
export function unfollowedPrompts(
  messages: readonly ChatMessage[],
  { followsInstructions }: ModelInfo,
): string[] {
  return followsInstructions === false && messages.some(isInstruction) ? ['messages.system'] : [];
}

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
  const reason = `images are not supported: the model's input is ${modalities.join(' and ')} only`;
  throw unsupportedField(param, reason);
}

/** Efforts that ask a model not to think. */
export const littleEffort: ReadonlySet<string> = new Set(['none', 'minimal']);

/**
 * What a request's effort comes to for a model: the variables of its chat template. Where the template knows none of them
 * the effort is ignored, and said to be; a model that cannot think follows "none" anyway. Remote engines get both.
 */
export function planThinking(
  { reasoningEffort: effort, chatTemplateKwargs }: ChatCompletionRequest,
  { templateVariables: known = ['enable_thinking', 'reasoning_effort'] }: ModelInfo,
): { kwargs?: TemplateVariables; ignored: string[] } {
  if (!effort) return { kwargs: chatTemplateKwargs, ignored: [] };
  const little = littleEffort.has(effort.value);
  const variables: TemplateVariables = {
    ...(known.includes('enable_thinking') && { enable_thinking: !little }),
    ...(known.includes('reasoning_effort') && { reasoning_effort: effort.value }),
  };
  if (Object.keys(variables).length > 0)
    return { kwargs: { ...variables, ...chatTemplateKwargs }, ignored: [] };
  return { kwargs: chatTemplateKwargs, ignored: little ? [] : [effort.field] };
}
