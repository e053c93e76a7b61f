import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generationParametersSchema, retrievalParametersSchema } from '#contracts';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectRoot } from '#paths';
import { EnvironmentError } from './environment.js';

/** How a language model is asked, and how far its answers are trusted. */
const answeringSchema = z.strictObject({
  /** What each answer starts from; the caller's own parameters win. */
  parameters: generationParametersSchema.default({}),
  /** Writes texts of its own; false: summaries and questions are made of the text's own sentences. */
  writes: z.boolean().default(true),
  /** A model that writes rewrites follow-up questions for the search, in this time at most; 0: it does not. */
  condenseTimeoutMs: z.int().min(0).max(60_000).default(3_000),
  grounding: z.strictObject({
    /** Beside `parameters`, for answers from passages and for texts about texts; a plain chat is left alone. */
    parameters: generationParametersSchema.optional(),
    /** Prompt with {context} and {question}; each passage of the context is rendered as `[n] text`. */
    userPrompt: z.string(),
    /**
     * Prompt of a further question with {question}. With it the passages stand in the conversation's first user turn,
     * without it in the last one.
     */
    followUpPrompt: z.string().optional(),
    systemPrompt: z.string().optional(),
    maxPassages: z.int().min(1),
    /** Words of all passages together. */
    maxContextWords: z.int().min(1),
    /** What the model says when the passages hold no answer. */
    noAnswer: z.string(),
  }),
});

/**
 * Everything the pipeline has to know about its models: which they are and what they ask of chunking, search, prompt
 * and answer check. The code knows no model by name.
 */
export const profileSchema = z.strictObject({
  /** Whether the models of this profile may be fetched from the hub; models that variables name always may. */
  allowHub: z.boolean(),
  embedding: z.strictObject({ model: z.string() }),
  reranking: z.strictObject({
    model: z.string(),
    /** Longer passages are cut to this many words before they are scored. */
    maxPassageWords: z.int().min(1),
    fusion: z.enum(['none', 'rrf', 'scores']),
    /** Weight of the model's ranking; that of the search is 1. */
    fusionWeight: z.number().gt(0).default(1),
    /** For rrf: reduces the lead of the first ranks. */
    fusionConstant: z.number().min(0).default(60),
    /** For scores: what each phrase of the query that a passage has adds, in standard deviations. */
    fusionPhraseWeight: z.number().min(0).default(0),
    topN: z.int().min(1),
  }),
  retrieval: retrievalParametersSchema.required({ search_type: true, k: true, fetch_k: true }),
  llm: answeringSchema.extend({
    model: z.string(),
    /** Answers from documents with their own sentences, which this model chooses; absent: the language model writes them. */
    reader: z.string().optional(),
    /** How an engine behind LLM_ENDPOINT or another model of LLM_MODEL_ID is asked, where that differs from the model above. */
    endpoint: answeringSchema.optional(),
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
