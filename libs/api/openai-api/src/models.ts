import type { ModelInfo } from '#platform/contracts';
import { z } from 'zod';

/** The schema of OpenAI's model object, with further properties of the model. */
export const modelSchema = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
});

export type Model = z.infer<typeof modelSchema>;

export const modelListSchema = z.object({ object: z.literal('list'), data: z.array(modelSchema) });

/** The list of models with the catalog for the Codex CLI. */
export const modelCatalogSchema = modelListSchema.extend({
  models: z.array(modelSchema.extend({ slug: z.string() })),
});

/** What a model is for, in the words of LobeChat's and FastGPT's lists; `text` writes texts but does not chat. */
export type ModelType = 'chat' | 'text' | 'embedding' | 'rerank' | 'stt' | 'tts';

const typesOfServices: Readonly<Record<string, ModelType>> = {
  llm: 'chat',
  embedding: 'embedding',
  reranking: 'rerank',
  asr: 'stt',
  tts: 'tts',
};

/** Abilities that the list of models names besides the type. */
export interface ModelAbilityNames {
  callsTools?: boolean;
  takesImages?: boolean;
}

/**
 * The fields by which clients choose the models that they offer for chats: `type`, Mistral's `capabilities`, and the
 * mark of a hidden model in Open WebUI, whose list of chat models has no other filter.
 */
export function capabilityFields(type: ModelType, { callsTools, takesImages }: ModelAbilityNames = {}) {
  return {
    type,
    capabilities: {
      completion_chat: type === 'chat',
      function_calling: type === 'chat' && callsTools === true,
      vision: type === 'chat' && takesImages === true,
      embeddings: type === 'embedding',
      rerank: type === 'rerank',
      audio_transcription: type === 'stt',
      audio_speech: type === 'tts',
    },
    ...(type !== 'chat' && { info: { meta: { hidden: true } } }),
  };
}

/** OpenAI's model object, with further properties of the model. */
export function modelObject(info: Partial<ModelInfo> & { id: string; service?: string }): Model {
  const { id, created = 0, revision, backend, maxInputTokens, assumesLength, service } = info;
  const type = service === undefined ? undefined : typesOfServices[service];
  const abilities = {
    callsTools: info.callsTools !== false,
    takesImages: info.modalities?.includes('image') ?? false,
  };
  return {
    id,
    object: 'model',
    created,
    owned_by: 'meganest',
    ...(service && { service }),
    ...(type && capabilityFields(type, abilities)),
    ...(backend && { backend, revision }),
    ...(maxInputTokens && !assumesLength && { max_model_len: maxInputTokens }),
  };
}

/** `GET /v1/models`. */
export function modelList(models: Model[]) {
  return { object: 'list' as const, data: models };
}

/** The system prompt of the Codex CLI for a model of this server; Codex appends facts about the machine. */
const instructions = `You are a coding agent in the Codex CLI, on the user's own computer. You work in the current directory.

- Read before you write: look at the files that matter with exec_command (rg, ls, sed -n) before you change anything.
- Change files with apply_patch where it is offered, otherwise with exec_command. Keep changes small and in the style of the code.
- Do what the user asks, completely, and no more. Check the result: run the tests or the program where there is a way to do so.
- Use one tool call at a time where the next one depends on its output.
- Never delete or overwrite work of the user that you were not asked to change. Do not commit unless you are asked to.
- When you are done, say in a few sentences what you changed and how you checked it. Say what you could not do.`;

/** Maximum tokens of a tool's output that Codex keeps. */
const maxOutputTokens = 10_000;

/** The levels of `reasoning_effort` for a model whose chat template reads it. */
const efforts = ['low', 'medium', 'high'];

/** An entry of `models` in the list of models, which the Codex CLI reads as its catalog. */
export type CodexModel = Model & { slug: string } & Record<string, unknown>;

/**
 * A model in the format of the Codex CLI. It decides which tools Codex offers: `apply_patch` as a custom tool, the
 * shell, and `view_image` if the model accepts images. It includes fields that only older versions need.
 */
export function codexModel(info: Partial<ModelInfo> & { id: string; service?: string }): CodexModel {
  const { id, maxInputTokens, assumesLength, modalities = ['text'], templateVariables = [] } = info;
  const thinks = templateVariables.includes('reasoning_effort');
  return {
    ...modelObject(info),
    slug: id,
    display_name: id,
    description: null,
    supported_reasoning_levels: thinks ? efforts.map((effort) => ({ effort, description: effort })) : [],
    ...(thinks && { default_reasoning_level: 'medium' }),
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority: 1,
    availability_nux: null,
    upgrade: null,
    base_instructions: instructions,
    supports_reasoning_summaries: false,
    default_reasoning_summary: 'none',
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'tokens', limit: maxOutputTokens },
    supports_parallel_tool_calls: true,
    ...(maxInputTokens !== undefined && !assumesLength && { context_window: maxInputTokens }),
    experimental_supported_tools: [],
    input_modalities: modalities,
    supports_search_tool: false,
  };
}
