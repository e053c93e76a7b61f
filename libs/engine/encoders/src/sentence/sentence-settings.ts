import { ModelLoadError, readOptionalJson } from '#engine/models';
import { z } from 'zod';
import type { SentenceModules } from './sentence-modules.js';

/** Texts that a model expects in front of a text, by the kind of the text. */
export interface Prefixes {
  readonly query: string;
  readonly document: string;
  /** For a text of which the caller does not say the kind. */
  readonly other: string;
}

const schema = z.looseObject({
  prompts: z.record(z.string(), z.string()).default({}),
  default_prompt_name: z.string().nullish(),
  similarity_fn_name: z.enum(['cosine', 'dot', 'euclidean', 'manhattan']).nullish(),
});

/** The names under which sentence-transformers looks for the prompt of a document. */
const documentNames = ['document', 'passage', 'corpus'];

/**
 * Reads the prompts of config_sentence_transformers.json; empty without the file. Vectors are served with unit length
 * and compared by cosine. Errors: ModelLoadError for a similarity that would rank in another order.
 */
export async function readPrefixes({ root: directory, steps }: SentenceModules): Promise<Prefixes> {
  const file = 'config_sentence_transformers.json';
  const config = await readOptionalJson(directory, file, schema);
  if (!config) return { query: '', document: '', other: '' };
  const { prompts, default_prompt_name: usual, similarity_fn_name: similarity } = config;
  const isUnit = steps.at(-1)?.kind === 'normalize';
  if (similarity === 'manhattan' || (similarity && similarity !== 'cosine' && !isUnit))
    throw new ModelLoadError(
      `${directory}/${file}: similarity_fn_name "${similarity}"${isUnit ? '' : ' of vectors that the model does not normalize'} is not supported; vectors are compared by cosine.`,
    );
  const other = usual ? prompts[usual] : '';
  if (other === undefined)
    throw new ModelLoadError(
      `${directory}/${file}: default_prompt_name "${usual}" is not one of its prompts.`,
    );
  const documents = documentNames.find((name) => name in prompts);
  return { query: prompts['query'] ?? other, document: documents ? prompts[documents]! : other, other };
}
