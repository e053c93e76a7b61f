import { z } from 'zod';
import { attributeFilterSchema, metadataFilterSchema } from '../attribute-filter.js';
import {
  collectionNameSchema,
  isVectorStore,
  neighbourSchema,
  retrievedDocumentSchema,
} from '../documents.js';
import { defineMethod } from './method.js';

export const searchTypes = [
  'similarity',
  'similarity_distance_threshold',
  'similarity_score_threshold',
  'mmr',
  'lexical',
  'hybrid',
] as const;
export type SearchType = (typeof searchTypes)[number];

const collection = collectionNameSchema;

/** The names are OPEA's names, so that the gateway passes a request's parameters to the service unchanged. */
export const retrievalParametersSchema = z.object({
  search_type: z.enum(searchTypes).optional().describe('Type of the search'),
  k: z.int().min(1).max(200).optional().describe('Passages to return'),
  fetch_k: z.int().min(1).max(1000).optional().describe('Candidates for mmr and hybrid'),
  score_threshold: z.number().min(0).max(1).optional().describe('Minimum cosine similarity'),
  distance_threshold: z.number().min(0).max(2).optional().describe('Maximum cosine distance'),
  lambda_mult: z.number().min(0).max(1).optional().describe('mmr: 1 is pure relevance, 0 pure diversity'),
  hybrid_fusion: z
    .enum(['rrf', 'scores'])
    .optional()
    .describe('hybrid: fuse the two rankings by reciprocal rank, or add up their scores'),
  similarity_weight: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .describe('hybrid: weight of the vector search; the word search weighs 1'),
  rank_constant: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe('hybrid with rrf: a larger value reduces the weight of the first ranks'),
  filter: metadataFilterSchema
    .optional()
    .describe('Keep chunks whose metadata contain these values; a list matches any of its values'),
  collection: collection
    .refine((name) => !isVectorStore(name), 'vector stores are searched through /v1/vector_stores')
    .optional()
    .describe('Name of the document collection'),
});
export type RetrievalParameters = z.infer<typeof retrievalParametersSchema>;

/** Characters of a question that a search uses: more than a page, and far more than an embedding model reads. */
export const maxQueryCharacters = 8_000;

/** `retrieval.retrieve`: passages for a query, best first. All search types but `lexical` need the embedding. */
export const retrieve = defineMethod({
  service: 'retrieval',
  method: 'retrieve',
  request: retrievalParametersSchema.extend({
    /** In calls between services also the id of a vector store, which only its owner can search. */
    collection: collection.optional(),
    /** Owner of the vector store; absent for shared collections. */
    owner: z.string().min(1).optional(),
    query: z.string(),
    /** base64 little-endian Float32. */
    embedding: z.string().optional(),
    /** Multiplies the weight of the vector search in a hybrid search, whichever fusion the profile sets. */
    similarity_factor: z.number().min(0).max(100).optional(),
    /** Searches only documents whose attributes pass the filter. */
    attribute_filter: attributeFilterSchema.optional(),
    /** Ids of documents whose chunks get a bonus, in hybrid and lexical searches. */
    preferred_documents: z.array(z.string()).max(50).optional(),
    /** Ids of chunks that follow the found ones in the reply, where the search may return them. */
    passages: z.array(z.string()).max(50).optional(),
  }),
  reply: z.object({
    documents: z.array(retrievedDocumentSchema),
    searchType: z.enum(searchTypes),
    /** Why the search was made by words in place of the wanted type. */
    degraded: z.enum(['embedding_model_changed']).optional(),
  }),
});

/** Names of documents in one question. */
const maxNames = 4;

/**
 * `retrieval.named_documents`: all passages of the documents that a question names, in their order. A name that means
 * several documents or none has the names of these documents, or of the nearest ones. Only documents that a search with
 * the same collection, owner and filter finds.
 */
export const readNamedDocuments = defineMethod({
  service: 'retrieval',
  method: 'named_documents',
  request: retrievalParametersSchema.pick({ filter: true }).extend({
    collection: collection.optional(),
    /** Owner of the vector store; absent for shared collections. */
    owner: z.string().min(1).optional(),
    names: z.array(z.string().min(1).max(500)).min(1).max(maxNames),
    max_words: z.int().min(1).max(200_000).describe('Words of all documents together, the same for each'),
  }),
  reply: z.object({
    /** For each name. */
    names: z.array(
      z.object({
        kind: z.enum(['one', 'several', 'none']),
        documents: z.array(z.object({ id: z.string(), filename: z.string(), title: z.string().optional() })),
        /** The document has more passages. */
        isCut: z.boolean().optional(),
      }),
    ),
    /** Empty unless each name means one document. */
    passages: z.array(retrievedDocumentSchema),
  }),
});

/**
 * How many passages before and after a found one are its neighbours, by its rank from 1: in its section; of its table,
 * so that about a thousand rows are read whole; and after the beginning of a document.
 */
export const neighbourReach = {
  section: { max: 8, maxRank: 5 },
  sectionOfLater: 1,
  table: { max: 200, maxRank: 10 },
  document: { max: 24, maxRank: 3 },
} as const;

/** Words per token of a language model's limit for passages. */
const wordsPerToken = 3 / 4;

/** Limit for the words of all neighbours, for a model that reads so many tokens of passages. */
export function maxNeighbourWords(tokens: number): number {
  return Math.max(1, Math.floor(tokens * wordsPerToken));
}

/** Found passages whose neighbours are read in one call. */
export const maxPassagesWithNeighbours = 200;

/**
 * `retrieval.neighbours`: the passages around found ones, within their sections: up to eight before and after each of
 * the first five passages, one for the later ones, and the whole table of a passage with rows. Passages that are not
 * stored, or that belong to another owner, have none.
 */
export const readNeighbours = defineMethod({
  service: 'retrieval',
  method: 'neighbours',
  request: z.object({
    /** Owner of the vector store; absent for shared collections. */
    owner: z.string().min(1).optional(),
    /** Ids of found passages, the best one first. */
    ids: z.array(z.string()).max(maxPassagesWithNeighbours),
    max_words: z
      .int()
      .min(1)
      .max(200_000)
      .describe('Words of all neighbours together; the nearest come first'),
  }),
  reply: z.object({ neighbours: z.array(neighbourSchema) }),
});
