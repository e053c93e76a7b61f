import type { Model } from '#api/openai-api';
import { createHash } from 'node:crypto';

/** Types of models that Ollama's clients can use. */
const usable: ReadonlySet<unknown> = new Set(['chat', 'text', 'embedding']);

/** The models that Ollama's clients can use. */
export function ollamaModels(models: readonly Model[]): Model[] {
  return models.filter(({ type }) => usable.has(type));
}

/** A model in the form of Ollama's list; a name without a tag has the usual one. */
export function listedModel(model: Model) {
  const name = taggedName(model.id);
  return {
    name,
    model: name,
    modified_at: timeOf(model),
    size: 0,
    digest: createHash('sha256')
      .update(`${model.id} ${revisionOf(model)}`)
      .digest('hex'),
    details: detailsOf(model),
  };
}

/** A model in the form of `/api/ps`: all models of running services are loaded. */
export function runningModel(model: Model) {
  const { max_model_len: length } = model;
  return {
    ...listedModel(model),
    size_vram: 0,
    expires_at: '2318-01-01T00:00:00Z',
    ...(typeof length === 'number' && { context_length: length }),
  };
}

/** A model in the form of `/api/show`. */
export function shownModel(model: Model) {
  const { max_model_len: length, type } = model;
  const { function_calling: calls, vision } = model['capabilities'] as Record<string, boolean>;
  const capabilities =
    type === 'embedding'
      ? ['embedding']
      : ['completion', ...(calls ? ['tools'] : []), ...(vision ? ['vision'] : [])];
  return {
    modelfile: '',
    parameters: '',
    template: '',
    license: '',
    details: detailsOf(model),
    model_info: {
      'general.architecture': family,
      'general.basename': model.id,
      ...(typeof length === 'number' && { [`${family}.context_length`]: length }),
    },
    capabilities,
    modified_at: timeOf(model),
  };
}

const family = 'meganest';

function taggedName(id: string): string {
  return id.includes(':') ? id : `${id}:latest`;
}

function timeOf({ created }: Model): string {
  return new Date(created * 1_000).toISOString();
}

function revisionOf({ revision }: Model): string {
  return typeof revision === 'string' ? revision : '';
}

function detailsOf({ backend }: Model) {
  return {
    parent_model: '',
    format: typeof backend === 'string' ? backend : 'mega service',
    family,
    families: [family],
    parameter_size: '',
    quantization_level: '',
  };
}
