import { MegaNestError, type GenerationParameters, type OutputConstraint } from '#contracts';

/**
 * Sampling and constraint in the words of an OpenAI-compatible server: JSON by `response_format`, the rest by vLLM's
 * `structured_outputs`. Errors: invalid_request for what such a server cannot be asked.
 */
export function remoteParameters({
  constraint,
  ...parameters
}: GenerationParameters): Record<string, unknown> {
  if ((parameters.best_of ?? 0) > (parameters.n ?? 1)) {
    const detail = 'best_of is not passed on to a remote engine: its answers are streamed.';
    throw new MegaNestError('invalid_request', { detail, param: 'best_of' });
  }
  const { best_of: _same, ...rest } = parameters;
  return { ...rest, ...(constraint && remoteConstraint(constraint)) };
}

function remoteConstraint(constraint: OutputConstraint): object {
  switch (constraint.type) {
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'json_schema': {
      const { schema } = constraint;
      return {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      };
    }
    case 'regex':
      return { structured_outputs: { regex: constraint.pattern } };
    case 'choice':
      return { structured_outputs: { choice: constraint.choices } };
    case 'grammar':
      return { structured_outputs: { grammar: constraint.grammar } };
    default:
      return structuralTag(constraint);
  }
}

type TagConstraint = Extract<OutputConstraint, { type: 'structural_tag' }>;

/** Only tags within free text have the same meaning there. */
function structuralTag({ triggers, tags, required, single }: TagConstraint): object {
  if (required || single) {
    const detail = 'A remote engine cannot be held to a number of structural tags.';
    throw new MegaNestError('invalid_request', {
      detail,
      param: `constraint.${required ? 'required' : 'single'}`,
    });
  }
  const other = tags.findIndex((tag) => !('schema' in tag));
  if (other !== -1) {
    const detail = 'A remote engine can be held to tags with a schema only.';
    throw new MegaNestError('invalid_request', { detail, param: `constraint.tags.${other}` });
  }
  return { response_format: { type: 'structural_tag', structures: tags, triggers } };
}
