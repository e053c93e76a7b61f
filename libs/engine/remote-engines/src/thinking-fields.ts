import type { TemplateVariables } from '#platform/contracts';
import type { EngineKind } from './engine-kind.js';

/** Names of models that do not read `enable_thinking`, but the reasoning effort; they cannot turn reasoning off. */
const readsEffortOnly = /gpt-?oss/i;
/** Names of models of OpenAI that reason. The other ones refuse an effort. */
const reasonsAtOpenAi = /(?:^|\/)(?:o\d|gpt-(?:[5-9]|\d\d))/i;

/** Names of models whose prompts end with the opening mark of their reasoning. */
const alwaysThinks = /(?:^|[-_/.:])(?:r1|qwq|thinking|reasoner)(?:[-_.:]|$)/i;

/** Whether the answers of a model may begin within its reasoning, by its name, if the engine does not separate it. */
export function mayBeginWithThoughts(kind: EngineKind, model: string): boolean {
  return kind !== 'ollama' && kind !== 'openai' && alwaysThinks.test(model);
}

/** A model of an engine. */
interface EngineModel {
  kind: EngineKind;
  /** The id of the model. */
  model: string;
}

/**
 * Variables that ask a model of an engine not to reason, in the names of several chat templates. Templates ignore unknown
 * names; {@link thinkingFields} converts them for engines that do not render templates.
 */
export function variablesWithoutThinking({ model }: Pick<EngineModel, 'model'>): TemplateVariables {
  const off = { enable_thinking: false, thinking: false };
  return readsEffortOnly.test(model) ? { ...off, reasoning_effort: 'low' } : off;
}

/** Fields of a request, and whether variables were left out, because the engine does not render templates. */
export interface ThinkingFields {
  fields: Record<string, unknown>;
  ignoresVariables: boolean;
}

/** Variables of a chat template with a meaning for engines that do not render templates. */
const known: ReadonlySet<string> = new Set(['enable_thinking', 'thinking', 'reasoning_effort']);

/**
 * Fields that pass the variables of a chat template to an engine: `chat_template_kwargs` if it renders templates, and
 * `reasoning_effort`, which several engines read instead.
 */
export function thinkingFields(
  { kind, model }: EngineModel,
  variables: Readonly<Record<string, unknown>> | undefined,
): ThinkingFields {
  if (!variables) return { fields: {}, ignoresVariables: false };
  const effort = effortOf({ kind, model }, variables);
  const hasTemplate = kind !== 'openai' && kind !== 'ollama';
  return {
    fields: {
      ...(hasTemplate && { chat_template_kwargs: variables }),
      ...(effort !== undefined && { reasoning_effort: effort }),
    },
    ignoresVariables: !hasTemplate && Object.keys(variables).some((name) => !known.has(name)),
  };
}

/** Kinds of engines that get an effort as it is: their models differ. */
const takesAnyEffort: ReadonlySet<EngineKind> = new Set(['openai', 'other', 'ovms', 'tgi', 'tei']);

/** Returns an effort that the engine supports, because engines refuse others. OpenAI's differ from model to model. */
function effortOf(
  { kind, model }: EngineModel,
  variables: Readonly<Record<string, unknown>>,
): string | undefined {
  const given = variables['reasoning_effort'];
  if (typeof given !== 'string') {
    const isOff = variables['enable_thinking'] === false || variables['thinking'] === false;
    const takesOff = kind === 'ollama' || (kind === 'openai' && reasonsAtOpenAi.test(model));
    return isOff && takesOff ? 'none' : undefined;
  }
  if (takesAnyEffort.has(kind)) return given;
  if (given === 'low' || given === 'medium' || given === 'high') return given;
  if (given === 'none' || given === 'minimal') return kind === 'ollama' ? 'none' : undefined;
  return given === 'xhigh' || given === 'max' ? 'high' : undefined;
}
