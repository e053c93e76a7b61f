import { MegaNestError } from '#platform/contracts';
import { z } from 'zod';
import type { RemoteServer } from './remote-server.js';

/** Kinds of engines whose requests differ; `other` if the kind is unknown. */
export type EngineKind =
  'vllm' | 'sglang' | 'llama.cpp' | 'ollama' | 'lm-studio' | 'openai' | 'ovms' | 'tgi' | 'tei' | 'other';

/** Kinds of engines by the value of `owned_by` of their models. */
const owners: Readonly<Record<string, EngineKind>> = {
  vllm: 'vllm',
  sglang: 'sglang',
  llamacpp: 'llama.cpp',
  library: 'ollama',
  openai: 'openai',
  'openai-internal': 'openai',
  system: 'openai',
  ovms: 'ovms',
};

/** Timeout of a request for a path that an engine may not have. */
const probeMs = 5_000;

/** Finds the kind of an engine by the owner of its model, or by paths that only one kind has. */
export async function engineKind(server: RemoteServer, owner: string | undefined): Promise<EngineKind> {
  const known = owners[owner?.toLowerCase() ?? ''];
  if (known) return known;
  const version = z.looseObject({ version: z.string() });
  if (await ask(server, { path: '/api/version', schema: version })) return 'ollama';
  const listed = z.looseObject({ max_context_length: z.number() });
  const models = z.looseObject({ data: z.array(listed).min(1) });
  if (await ask(server, { path: '/api/v0/models', schema: models })) return 'lm-studio';
  const info = z.looseObject({ model_id: z.string(), model_type: z.unknown().optional() });
  const told = await ask(server, { path: '/info', schema: info });
  if (!told) return 'other';
  return told.model_type === undefined ? 'tgi' : 'tei';
}

const tokens = z.coerce.number().int().min(1);

/** Context length in the model lists of vLLM and SGLang, OpenRouter and Together, Groq, Mistral, llama.cpp. */
export const lengthFields = {
  max_model_len: tokens.nullish().catch(null),
  context_length: tokens.nullish().catch(null),
  context_window: tokens.nullish().catch(null),
  max_context_length: tokens.nullish().catch(null),
  meta: z.looseObject({ n_ctx: tokens.nullish() }).nullish().catch(null),
};
type ListedLength = { [Name in keyof typeof lengthFields]?: z.output<(typeof lengthFields)[Name]> };

/** Returns the context length from an entry of the model list. */
export function listedLength(model: ListedLength): number | undefined {
  const { max_model_len, context_length, context_window, max_context_length, meta } = model;
  const told = max_model_len ?? context_length ?? context_window ?? max_context_length ?? meta?.n_ctx;
  return told ?? undefined;
}

/** The context length of an engine's model. */
export interface ContextLength {
  tokens: number;
  /** The engine may serve another length. */
  isGuess?: boolean;
}

/** Asks other paths for the context length, for engines whose model list lacks it; undefined if all of them lack it. */
export async function askContextLength(
  server: RemoteServer,
  model: string,
): Promise<ContextLength | undefined> {
  const [running, ...answers] = await Promise.all([
    ask(server, runningLength(model)),
    ...probes.map((probe) => ask(server, probe(model))),
  ]);
  return running ?? answers.find((answer) => answer !== undefined);
}

interface Probe<Answer = ContextLength | undefined> {
  path: string;
  body?: unknown;
  schema: z.ZodType<Answer>;
}

/** Requests for the context length: llama.cpp, Ollama, TGI, LM Studio. */
const probes: readonly ((model: string) => Probe)[] = [
  () => ({
    path: '/props',
    schema: z
      .looseObject({ default_generation_settings: z.looseObject({ n_ctx: tokens }) })
      .transform((props) => ({ tokens: props.default_generation_settings.n_ctx })),
  }),
  (model) => ({
    path: '/api/show',
    body: { model },
    schema: z
      .looseObject({ parameters: z.string().nullish(), model_info: z.looseObject({}).nullish() })
      .transform(({ parameters, model_info: info }) => chosenLength(parameters) ?? servedLength(info)),
  }),
  () => ({
    path: '/info',
    schema: z
      .looseObject({ max_total_tokens: tokens })
      .transform((info) => ({ tokens: info.max_total_tokens })),
  }),
  (model) => ({
    path: '/api/v0/models',
    schema: z
      .looseObject({
        data: z.array(
          z.looseObject({
            id: z.string(),
            loaded_context_length: tokens.nullish(),
            max_context_length: tokens.nullish(),
          }),
        ),
      })
      .transform(({ data }) => {
        const found = data.find(({ id }) => id === model);
        const length = found?.loaded_context_length ?? found?.max_context_length;
        return length ? { tokens: length } : undefined;
      }),
  }),
];

/** Ollama's list of loaded models, with the length that it serves. */
function runningLength(model: string): Probe {
  const loaded = z.looseObject({ name: z.string(), context_length: tokens.nullish().catch(null) });
  return {
    path: '/api/ps',
    schema: z.looseObject({ models: z.array(loaded) }).transform(({ models }) => {
      const length = models.find(({ name }) => name === model)?.context_length;
      return length ? { tokens: length } : undefined;
    }),
  };
}

/** Returns `num_ctx` from the parameters of an Ollama model. */
function chosenLength(parameters: string | null | undefined): ContextLength | undefined {
  const [, number] = /^num_ctx\s+(\d+)/m.exec(parameters ?? '') ?? [];
  return number === undefined ? undefined : { tokens: Number(number) };
}

/** Length that Ollama serves by default; it cuts longer prompts without an error. */
const ollamaLength = 4096;

/** A guess: Ollama reports `<architecture>.context_length`, the length that the model was trained for. */
function servedLength(info: Record<string, unknown> | null | undefined): ContextLength | undefined {
  const [, length] = Object.entries(info ?? {}).find(([name]) => name.endsWith('.context_length')) ?? [];
  return typeof length === 'number' ? { tokens: Math.min(length, ollamaLength), isGuess: true } : undefined;
}

/** Sends a probe. Returns undefined for any error of the engine or other answer. */
async function ask<Answer>(
  server: RemoteServer,
  { path, body, schema }: Probe<Answer>,
): Promise<Answer | undefined> {
  try {
    return await server.json({ path, body, signal: AbortSignal.timeout(probeMs) }, schema);
  } catch (error) {
    if (error instanceof MegaNestError) return undefined;
    throw error;
  }
}
