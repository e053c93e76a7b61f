import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generationParametersSchema, retrievalParametersSchema } from '#platform/contracts';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectRoot } from '#platform/foundation';
import { EnvironmentError } from './environment.js';

/** Settings of a language model's requests, and of the checks on its answers. */
const answeringSchema = z.strictObject({
  /**
   * Default parameters of an answer of a local model; the caller's parameters take precedence. An engine of LLM_ENDPOINT
   * has its own defaults.
   */
  parameters: generationParametersSchema.default({}),
  /** The model writes its own texts; false: summaries and questions consist of sentences of the text. */
  writes: z.boolean().default(true),
  /** Maximum time in which a model that writes writes queries for the search; 0: it does not. */
  searchQueriesTimeoutMs: z.int().min(0).max(60_000).default(1_000),
  grounding: z.strictObject({
    /** In addition to `parameters`, for answers from passages, summaries and questions; not for a plain chat. */
    parameters: generationParametersSchema.optional(),
    /** Prompt with {context} and {question}. */
    userPrompt: z.string(),
    /**
     * How the context is written. `blocks`: passages with their neighbours, with labels, line breaks and tables, as many
     * as an eighth of the model's window. `lines`: each found passage as one line `[n] text`.
     */
    context: z.enum(['blocks', 'lines']).default('blocks'),
    /**
     * Prompt of a further question with {question}. With it the passages are in the conversation's first user turn,
     * without it in the last one.
     */
    followUpPrompt: z.string().optional(),
    /** A text of the profile for the system turn. */
    systemPrompt: z.string().optional(),
    /**
     * The system turn says how to answer: from the passages, with citations, in the language of the question. For models
     * that follow instructions.
     */
    instructions: z.boolean().optional(),
    /** Where the passages hold no answer, the model may answer from its general knowledge, and says so. */
    generalKnowledge: z.boolean().optional(),
    /** The search and the reranking (`k`, `top_n`) choose fewer. */
    maxPassages: z.int().min(1),
    /** Words of all passages together; absent: as the window allows. */
    maxContextWords: z.int().min(1).optional(),
    /** The answer if the passages do not contain one; absent: a text in the language of the question. */
    noAnswer: z.string().optional(),
  }),
});

/**
 * The models of a pipeline, and their settings for chunking, search, prompt and answer check. The code does not depend
 * on the name of a model.
 */
export const profileSchema = z.strictObject({
  /** Whether the models of this profile may be fetched from the hub; models from variables always may. */
  allowHub: z.boolean(),
  embedding: z.strictObject({ model: z.string() }),
  reranking: z.strictObject({
    model: z.string(),
    /** Longer passages are cut to this many words before they are scored. */
    maxPassageWords: z.int().min(1),
    fusion: z.enum(['none', 'rrf', 'scores']),
    /** Weight of the model's ranking; the ranking of the search has weight 1. */
    fusionWeight: z.number().gt(0).default(1),
    /** For rrf: reduces the lead of the first ranks. */
    fusionConstant: z.number().min(0).default(60),
    /** For scores: bonus for each phrase of the query in a passage, in standard deviations. */
    fusionPhraseWeight: z.number().min(0).default(0),
    topN: z.int().min(1),
  }),
  retrieval: retrievalParametersSchema.required({ search_type: true, k: true, fetch_k: true }),
  llm: answeringSchema.extend({
    model: z.string(),
    /** Model that chooses sentences of the documents as the answer; absent: the language model writes the answer. */
    reader: z.string().optional(),
    /**
     * Settings for the engine of LLM_ENDPOINT, or for the model of LLM_MODEL_ID, if they differ from the model above.
     */
    endpoint: answeringSchema.optional(),
    /** For answers from passages of a local model of LLM_MODEL_ID that is not the model above. */
    ownModelParameters: generationParametersSchema.optional(),
  }),
  asr: z.strictObject({ model: z.string() }),
  chunking: z.strictObject({ chunkSize: z.int().min(10), chunkOverlap: z.int().min(0) }),
});
export type Profile = z.infer<typeof profileSchema>;

const profilesFolder = join(projectRoot, 'profiles');

/** Reads `profiles/<name>.yaml`. Errors: an unknown name lists the known ones; a bad file names the field. */
export function loadProfile(name: string): Profile {
  const names = readdirSync(profilesFolder).map((file) => file.replace(/\.yaml$/, ''));
  if (!names.includes(name)) {
    throw new EnvironmentError(
      `MEGANEST_PROFILE: there is no profile "${name}"; there are ${names.join(', ')}.`,
    );
  }
  const result = profileSchema.safeParse(parse(readFileSync(join(profilesFolder, `${name}.yaml`), 'utf8')));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new EnvironmentError(`profiles/${name}.yaml: ${issue?.path.join('.')}: ${issue?.message}`);
}
