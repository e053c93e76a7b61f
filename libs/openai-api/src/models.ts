import type { ModelInfo } from '#contracts';

export interface Model {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
}

/** OpenAI's model object, with what else is known of it. */
export function modelObject(info: Partial<ModelInfo> & { id: string; service?: string }): Model {
  const { id, created = 0, revision, backend, maxInputTokens, assumesLength, service } = info;
  return {
    id,
    object: 'model',
    created,
    owned_by: 'meganest',
    ...(service && { service }),
    ...(backend && { backend, revision }),
    ...(backend && !assumesLength && { max_model_len: maxInputTokens }),
  };
}

/** `GET /v1/models`. */
export function modelList(models: Model[]) {
  return { object: 'list' as const, data: models };
}
