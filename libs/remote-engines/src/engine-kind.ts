import { z } from 'zod';
import { MegaNestError } from '#contracts';
import type { RemoteServer } from './remote-server.js';

/** What an engine is, as far as its requests differ; `other` where it does not say. */
export type EngineKind = 'vllm' | 'sglang' | 'llama.cpp' | 'ollama' | 'lm-studio' | 'openai' | 'other';

/** What engines write as the owner of their models. */
const owners: Readonly<Record<string, EngineKind>> = {
  vllm: 'vllm',
  sglang: 'sglang',
  llamacpp: 'llama.cpp',
  library: 'ollama',
  openai: 'openai',
  'openai-internal': 'openai',
  system: 'openai',
};

/** Longest wait for an engine that may not have the path. */
const probeMs = 5_000;

/** The kind of an engine by the owner of its model; Ollama and LM Studio, whose models can have any owner, are asked. */
export async function engineKind(server: RemoteServer, owner: string | undefined): Promise<EngineKind> {
  const known = owners[owner ?? ''];
  if (known) return known;
  if (await answers(server, '/api/version', z.looseObject({ version: z.string() }))) return 'ollama';
  const listed = z.looseObject({ max_context_length: z.number() });
  const isStudio = await answers(server, '/api/v0/models', z.looseObject({ data: z.array(listed).min(1) }));
  return isStudio ? 'lm-studio' : 'other';
}

/** Whether an engine has a path with an answer of this form. */
async function answers(server: RemoteServer, path: string, form: z.ZodType): Promise<boolean> {
  try {
    await server.json({ path, signal: AbortSignal.timeout(probeMs) }, form);
    return true;
  } catch (error) {
    if (error instanceof MegaNestError) return false;
    throw error;
  }
}

/**
 * The variables of a chat template in the words of an engine: `chat_template_kwargs` where it renders one for us, and
 * `reasoning_effort`, which several read in its place.
 */
export function thinkingFields(
  kind: EngineKind,
  variables: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  if (!variables) return {};
  const effort = effortOf(kind, variables['reasoning_effort']);
  const hasTemplate = kind !== 'openai' && kind !== 'ollama';
  return {
    ...(hasTemplate && { chat_template_kwargs: variables }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
}

/** Engines refuse efforts that they do not know. OpenAI's differ from model to model. */
function effortOf(kind: EngineKind, given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  if (kind === 'openai' || given === 'low' || given === 'medium' || given === 'high') return given;
  if (given === 'none' || given === 'minimal') return kind === 'ollama' ? 'none' : undefined;
  return given === 'xhigh' || given === 'max' ? 'high' : undefined;
}
