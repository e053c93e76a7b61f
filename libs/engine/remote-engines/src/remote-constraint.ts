import { MegaNestError, type GenerationParameters, type OutputConstraint } from '#platform/contracts';
import type { EngineKind } from './engine-kind.js';

/** A `top_p` that the most likely token alone exceeds. */
const minShare = 1e-6;

/**
 * Returns sampling parameters and constraint as fields for an OpenAI-compatible server: JSON as `response_format`,
 * other constraints as fields of its kind. Errors: invalid_request for features that such a server does not support.
 */
export function remoteParameters(
  { constraint, ...parameters }: GenerationParameters,
  kind: EngineKind = 'other',
): Record<string, unknown> {
  if ((parameters.best_of ?? 0) > (parameters.n ?? 1)) {
    const detail = 'best_of is not passed on to a remote engine: its answers are streamed.';
    throw new MegaNestError('invalid_request', { detail, param: 'best_of' });
  }
  const { best_of: _same, ...rest } = parameters;
  // vLLM and others refuse 0, which means the most likely token.
  if (rest.top_p === 0) rest.top_p = minShare;
  return { ...rest, ...(constraint && remoteConstraint(constraint, kind)) };
}

function remoteConstraint(constraint: OutputConstraint, kind: EngineKind): object {
  switch (constraint.type) {
    case 'json_object':
      return { response_format: anyObject(kind) };
    case 'json_schema': {
      const { schema } = constraint;
      return {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      };
    }
    case 'regex':
      return regexField(constraint.pattern, kind);
    case 'choice':
      return choiceField(constraint.choices, kind);
    case 'grammar':
      return grammarField(constraint.grammar, kind);
    default:
      return structuralTag(constraint);
  }
}

/** LM Studio refuses `json_object`. */
function anyObject(kind: EngineKind): object {
  if (kind !== 'lm-studio') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } };
}

/** Older versions of vLLM read the names without `structured_outputs`; vLLM ignores unknown names. */
function regexField(pattern: string, kind: EngineKind): object {
  if (kind === 'sglang') return { regex: pattern };
  const older = kind === 'vllm' ? { guided_regex: pattern } : {};
  return { structured_outputs: { regex: pattern }, ...older };
}

function choiceField(choices: string[], kind: EngineKind): object {
  if (kind === 'sglang') return { regex: choices.map(escaped).join('|') };
  if (kind === 'llama.cpp')
    return { grammar: `root ::= ${choices.map((one) => JSON.stringify(one)).join(' | ')}` };
  const older = kind === 'vllm' ? { guided_choice: choices } : {};
  return { structured_outputs: { choice: choices }, ...older };
}

function grammarField(grammar: string, kind: EngineKind): object {
  if (kind === 'sglang') return { ebnf: grammar };
  if (kind === 'llama.cpp') return { grammar };
  const older = kind === 'vllm' ? { guided_grammar: grammar } : {};
  return { structured_outputs: { grammar }, ...older };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

type TagConstraint = Extract<OutputConstraint, { type: 'structural_tag' }>;

/** Remote engines support only tags within free text with the same meaning. */
function structuralTag({ triggers, tags, required, single, at = 'constraint' }: TagConstraint): object {
  if (required || single) {
    const detail = 'A remote engine cannot limit the number of structural tags.';
    throw new MegaNestError('invalid_request', {
      detail,
      param: `${at}.${required ? 'required' : 'single'}`,
    });
  }
  const other = tags.findIndex((tag) => !('schema' in tag));
  if (other !== -1) {
    const detail = 'A remote engine supports only tags with a schema.';
    throw new MegaNestError('invalid_request', { detail, param: `${at}.tags.${other}` });
  }
  return {
    response_format: {
      type: 'structural_tag',
      structures: tags.map(({ at: _at, derived: _derived, ...tag }) => tag),
      triggers,
    },
  };
}
