import { MegaNestError, type NamedEngine } from '#platform/contracts';
import type { Dispatcher } from 'undici';
import { usesOfModels, type EngineModel } from '../choose-model.js';
import { engineKind, type EngineKind } from '../engine-kind.js';
import { modelsSchema } from '../models-schema.js';
import { RemoteServer } from '../remote-server.js';

/** Asks an engine for its kind and its models. Errors: service_unavailable, bad_upstream. */
export async function findModels(
  spec: Pick<NamedEngine, 'url' | 'api_key' | 'kind'>,
  dispatcher?: Dispatcher,
  timeoutMs = 10_000,
): Promise<{ kind: EngineKind; models: EngineModel[] }> {
  const server = serverOf(spec, dispatcher);
  const signal = AbortSignal.timeout(timeoutMs);
  const { data } = await server.json({ path: '/v1/models', signal }, modelsSchema).catch((error: unknown) => {
    // Text Embeddings Inference has no list of models.
    if (error instanceof MegaNestError && error.message.includes('answered 404')) return { data: [] };
    throw error;
  });
  const kind = spec.kind ?? (await engineKind(server, data[0]?.owned_by ?? undefined));
  if (data.length === 0 && kind === 'other') throw server.unexpected('its engine has no list of models');
  return { kind, models: await usesOfModels(data, server, kind === 'ollama') };
}

/** A client of an engine. */
export function serverOf(
  { url, api_key: apiKey }: Pick<NamedEngine, 'url' | 'api_key'>,
  dispatcher: Dispatcher | undefined,
): RemoteServer {
  const endpoint = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return new RemoteServer('llm', {
    endpoint,
    ...(apiKey !== undefined && { apiKey }),
    ...(dispatcher && { dispatcher }),
  });
}

/** What the operator says of the models that chat has precedence. */
export function withUses(models: readonly EngineModel[], uses: NamedEngine['uses']): readonly EngineModel[] {
  if (!uses) return models;
  return models.map((model) => (model.uses.includes('chat') ? { ...model, uses } : model));
}
