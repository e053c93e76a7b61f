import { loadReader } from '#engine/encoders';
import { announceModel, modelOptions, type Profile } from '#platform/service-kit';
import type { Library } from './library.js';
import type { LlmEnvironment } from './llm.environment.js';
import type { LlmGenerator } from './open-generator.js';
import { ExtractiveAnswerer, answerSmallTalk, readFusion } from '#answers/extractive';

/** Injection token of the {@link ExtractiveAnswerer}; undefined where the language model answers from documents. */
export const answererToken = Symbol('answerer');

/**
 * Loads the configured reader. A configured language model or engine writes the answers instead, unless a reader is
 * configured, too. Errors: an Error with the failed model and the reason.
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
  if (!generator.tokenize) return undefined;
  const reader = announceModel(await loadReader(model, modelOptions(environment, profile)));
  return new ExtractiveAnswerer({
    reader,
    fusion: readFusion(reader.directory),
    noAnswer: profile.llm.grounding.noAnswer,
    maxPassages: profile.llm.grounding.maxPassages,
    tokenize: generator.tokenize.bind(generator),
    smallTalk: (message) => answerSmallTalk(message, () => library.describe()),
  });
}
