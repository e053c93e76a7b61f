import { MegaNestError, type EngineUse } from '#platform/contracts';
import { z } from 'zod';
import type { RemoteServer } from './remote-server.js';

const text = z.string().nullish().catch(null);

/** Fields with which engines say in their list what a model does. */
export const purposeFields = {
  /** LM Studio (`llm`, `vlm`, `embeddings`), Together (`chat`, `embedding`, `rerank`, `image`). */
  type: text,
  /** LiteLLM's proxy and others: `chat`, `embedding`. */
  mode: text,
  task: text,
  /** A list in Ollama and llama.cpp, flags in Mistral. */
  capabilities: z
    .union([z.array(z.string()), z.record(z.string(), z.unknown())])
    .nullish()
    .catch(null),
};

/** An entry of an engine's list of models. */
export type ListedModel = { id: string } & {
  [Name in keyof typeof purposeFields]?: z.output<(typeof purposeFields)[Name]>;
};

/** A model of an engine, and what it does; nothing known: an empty list. */
export interface EngineModel {
  readonly id: string;
  readonly uses: readonly EngineUse[];
}

/** Maximum number of models whose capabilities are asked for. */
const maxAsked = 32;
const askMs = 5_000;

const shownSchema = z.looseObject({ capabilities: z.array(z.string()) });

/**
 * What the models of a list do, by the list, by Ollama's description, or by their names. Of the models beyond the first
 * {@link maxAsked} the description is not read.
 */
export async function usesOfModels(
  models: readonly ListedModel[],
  server: RemoteServer,
  isOllama: boolean,
): Promise<EngineModel[]> {
  return Promise.all(
    models.map(async (model, index) => {
      const shown = isOllama && index < maxAsked ? await shownCapabilities(model, server) : undefined;
      return { id: model.id, uses: usesOf(model, shown) };
    }),
  );
}

function usesOf(model: ListedModel, shown: readonly string[] | undefined): EngineUse[] {
  const { type, capabilities } = model;
  const isChat = listedPurpose(model) ?? (shown && purposeOf(shown)) ?? !otherPurpose.test(model.id);
  if (isChat) {
    const listed = Array.isArray(capabilities)
      ? capabilities
      : Object.entries(capabilities ?? {}).flatMap(([name, value]) => (value === true ? [name] : []));
    const sees =
      type === 'vlm' || [...listed, ...(shown ?? [])].some((name) => /vision|multimodal/i.test(name));
    return sees ? ['chat', 'vision'] : ['chat'];
  }
  const described = [type, model.mode, model.task, ...(shown ?? []), model.id].join(' ');
  if (/rerank/i.test(described)) return ['rerank'];
  if (/whisper|parakeet|transcri|asr/i.test(described)) return ['transcription'];
  if (/kokoro|piper|bark|tts|speech/i.test(described)) return ['speech'];
  return /embed|bge|e5|gte|minilm|labse|colbert|splade|similarity|feature/i.test(described)
    ? ['embeddings']
    : [];
}

/**
 * The first model of the list that chats. The list may say what a model does; Ollama is asked; otherwise the name tells.
 * Errors: model_not_found if the list is empty or has only models that do not chat; the message names LLM_MODEL_ID.
 */
export async function firstChatModel<Model extends ListedModel>(
  models: readonly Model[],
  server: RemoteServer,
): Promise<Model> {
  for (const model of models.slice(0, maxAsked)) if (await chats(model, server)) return model;
  const names = models.map(({ id }) => id).join(', ') || 'none';
  const available = `${names}. None of them is known to chat: set LLM_MODEL_ID`;
  throw new MegaNestError('model_not_found', { model: 'for chat', available });
}

async function chats(model: ListedModel, server: RemoteServer): Promise<boolean> {
  return listedPurpose(model) ?? (await shownPurpose(model, server)) ?? !otherPurpose.test(model.id);
}

/** Whether a model chats by its entry in the list; undefined if the entry does not say it. */
function listedPurpose({ type, mode, task, capabilities }: ListedModel): boolean | undefined {
  for (const said of [type, mode, task]) {
    if (!said) continue;
    if (/chat|generat|llm|vlm|conversation|responses|completion|language/i.test(said)) return true;
    if (/embed|rerank|rank|classif|moderation|image|audio|speech|transcri|similarity|feature/i.test(said))
      return false;
  }
  if (!capabilities) return undefined;
  if (Array.isArray(capabilities)) return purposeOf(capabilities);
  const flag = capabilities['completion_chat'] ?? capabilities['chat'];
  return typeof flag === 'boolean' ? flag : undefined;
}

/** Whether a model chats by Ollama's description; undefined for other engines. */
async function shownPurpose({ id }: ListedModel, server: RemoteServer): Promise<boolean | undefined> {
  const capabilities = await shownCapabilities({ id }, server);
  return capabilities && purposeOf(capabilities);
}

async function shownCapabilities({ id }: ListedModel, server: RemoteServer): Promise<string[] | undefined> {
  try {
    const request = { path: '/api/show', body: { model: id }, signal: AbortSignal.timeout(askMs) };
    return (await server.json(request, shownSchema)).capabilities;
  } catch (error) {
    if (error instanceof MegaNestError) return undefined;
    throw error;
  }
}

function purposeOf(capabilities: readonly string[]): boolean | undefined {
  if (capabilities.some((name) => /completion|chat|generat/i.test(name))) return true;
  return capabilities.some((name) => /embed|rerank|transcri|speech/i.test(name)) ? false : undefined;
}

/** Names of models for vectors, ranking, speech and images. */
const otherPurpose =
  /embed|(?:^|[/_-])(?:bge|e5|gte|minilm|labse|colbert|splade|clip|siglip|whisper|parakeet|kokoro|piper|bark|tts|asr|flux|dall-e|sdxl|stable-diffusion)(?:[-_.:/\d]|$)|rerank|moderation|transcribe|guard(?:[-_.:]|$)/i;
