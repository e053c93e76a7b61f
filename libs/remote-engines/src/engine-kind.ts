import { z } from 'zod';
import { MegaNestError } from '#contracts';
import type { RemoteServer } from './remote-server.js';

/** What an engine is, as far as its requests differ; `other` where it does not say. */
export type EngineKind = 'vllm' | 'sglang' | 'llama.cpp' | 'ollama' | 'openai' | 'other';

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

/** The kind of an engine by what its list says of a model; Ollama, whose models can have any owner, is asked. */
export async function engineKind(server: RemoteServer, owner: string | undefined): Promise<EngineKind> {
  const known = owners[owner ?? ''];
  if (known) return known;
  try {
    const request = { path: '/api/version', signal: AbortSignal.timeout(probeMs) };
    await server.json(request, z.looseObject({ version: z.string() }));
    return 'ollama';
  } catch (error) {
    if (error instanceof MegaNestError) return 'other';
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
