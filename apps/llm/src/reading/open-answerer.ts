import { loadReader } from '#encoders';
import { announceModel, modelOptions, type Profile } from '#service-kit';
import type { LlmEnvironment } from '../llm.environment.js';
import type { LlmGenerator } from '../open-generator.js';
import { ExtractiveAnswerer } from './extractive-answerer.js';
import { readFusion } from './fusion.js';
import type { Library } from './library.js';
import { answerSmallTalk } from './small-talk.js';

/** Injection token of the {@link ExtractiveAnswerer}; undefined where the language model answers from documents itself. */
export const answererToken = Symbol('answerer');

/**
 * Loads the configured reader. Where the user names a language model or an engine of their own, that writes the answers,
 * unless a reader is named too. Errors: says which model failed, and why.
 */
export async function openAnswerer(
  environment: LlmEnvironment,
  profile: Profile,
  { generator, library }: { generator: LlmGenerator; library: Library },
): Promise<ExtractiveAnswerer | undefined> {
  const { LLM_ENDPOINT, LLM_MODEL_ID = profile.llm.model, READER_MODEL_ID } = environment;
  const isOwn = LLM_ENDPOINT === undefined && LLM_MODEL_ID === profile.llm.model;
  const model = READER_MODEL_ID ?? (isOwn ? profile.llm.reader : undefined);
  if (model === undefined || model === 'none') return undefined;
  if (!generator.tokenise) return undefined;
  const reader = announceModel(await loadReader(model, modelOptions(environment, profile)));
  return new ExtractiveAnswerer({
    reader,
    fusion: readFusion(reader.directory),
    noAnswer: profile.llm.grounding.noAnswer,
    maxPassages: profile.llm.grounding.maxPassages,
    tokenise: generator.tokenise.bind(generator),
    smallTalk: (message) => answerSmallTalk(message, () => library.describe()),
  });
}
