import { z } from 'zod';
import { metadataSchema, nameSchema } from '../documents.js';
import { defineMethod } from './method.js';

export const ingestParametersSchema = z.object({
  chunk_size: z.int().min(10).max(10_000).optional().describe('Target size of a chunk in words'),
  chunk_overlap: z.int().min(0).max(5_000).optional().describe('Words repeated from the chunk before'),
  collection: nameSchema(128).optional(),
  metadata: metadataSchema.optional().describe('Attributes written to every chunk; filters match on them'),
});
export type IngestParameters = z.infer<typeof ingestParametersSchema>;

/** What a document is stored under has an index in the database, and an entry of it has a size. */
const greatestNameBytes = 1_900;
const documentName = nameSchema(1_024).refine(
  (name) => Buffer.byteLength(name) <= greatestNameBytes,
  `is longer than ${greatestNameBytes} bytes`,
);
/** A link that documents are read from; it is their name too. */
export const linkSchema = z.url({ error: 'is no URL' }).max(greatestNameBytes);

/** A file by reference: its bytes lie in the NATS object store (max_payload keeps them out of messages). */
export const fileReferenceSchema = z.object({
  objectId: z.string(),
  filename: documentName,
  mimeType: z.string(),
  bytes: z.int(),
  /** Where its bytes begin in the object, for a small file that shares an object with others of its upload. */
  offset: z.int().min(0).optional(),
});
export type FileReference = z.infer<typeof fileReferenceSchema>;

export const ingestedDocumentSchema = z.object({
  documentId: z.string(),
  filename: z.string(),
  chunks: z.int(),
  /** unchanged: the same content was there already. */
  outcome: z.enum(['added', 'replaced', 'unchanged']),
});
export type IngestedDocument = z.infer<typeof ingestedDocumentSchema>;

/** A document of a batch that was not stored, and why. */
export const failedDocumentSchema = z.object({
  filename: z.string(),
  error: z.object({ code: z.string(), message: z.string(), param: z.string().nullable() }),
});
export type FailedDocument = z.infer<typeof failedDocumentSchema>;

export const ingestProgressSchema = z.object({
  stage: z.enum(['reading', 'chunking', 'embedding', 'storing', 'done']),
  filename: z.string(),
  /** Work done and to do within the stage: chunks embedded, files done. */
  completed: z.int(),
  total: z.int(),
  /** On the last event only. */
  documents: z.array(ingestedDocumentSchema).optional(),
  /** On the last event, where documents of a batch failed alone. */
  failed: z.array(failedDocumentSchema).optional(),
});
export type IngestProgress = z.infer<typeof ingestProgressSchema>;

/** `dataprep.ingest`: reads, chunks, embeds and stores; streams its progress, the last event holds the documents. */
export const ingest = defineMethod({
  service: 'dataprep',
  method: 'ingest',
  request: ingestParametersSchema.extend({
    files: z.array(fileReferenceSchema).default([]),
    links: z.array(linkSchema).default([]),
    /** Owner of the vector store that `collection` is; documents without an owner are shared. */
    owner: z.string().min(1).optional(),
    /** Least time between two events, for a caller that shows none of them. Default: every event. */
    progressEveryMs: z.int().min(0).max(10_000).optional(),
  }),
  reply: ingestProgressSchema,
  streaming: true,
});

/** Work that goes on after its request was answered; kept in Postgres, so any instance can tell of it. */
export const ingestJobSchema = z.object({
  id: z.string(),
  state: z.enum(['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled']),
  /** The latest step; null until the work begins. */
  progress: ingestProgressSchema.nullable(),
  error: z
    .object({
      code: z.string(),
      status: z.int(),
      type: z.string(),
      message: z.string(),
      param: z.string().nullable(),
    })
    .nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  finishedAt: z.string().nullable(),
});
export type IngestJob = z.infer<typeof ingestJobSchema>;

/** `dataprep.start-job`: the same as `dataprep.ingest` in the background; answers at once. */
export const startIngestJob = defineMethod({
  service: 'dataprep',
  method: 'start-job',
  request: ingest.request,
  reply: ingestJobSchema,
  idempotent: false,
});

/** Errors: not_found. */
export const findIngestJob = jobMethod('job');

/** Stops a job on whichever instance runs it; one that has ended stays as it is. Errors: not_found. */
export const cancelIngestJob = jobMethod('cancel-job');

/**
 * Sets a job aside on whichever instance runs it: documents that are stored stay, one that is half done begins again later. A job
 * that has ended stays as it is. Errors: not_found.
 */
export const pauseIngestJob = jobMethod('pause-job');

/** Goes on with a paused job; any other stays as it is. Errors: not_found, overloaded. */
export const resumeIngestJob = jobMethod('resume-job');

function jobMethod(method: string) {
  const request = z.object({ id: z.string() });
  return defineMethod({ service: 'dataprep', method, request, reply: ingestJobSchema });
}

export const storedDocumentSchema = z.object({
  id: z.string(),
  filename: z.string(),
  source: z.string().nullable(),
  collection: z.string(),
  chunks: z.int(),
  bytes: z.int(),
  createdAt: z.string(),
});
export type StoredDocument = z.infer<typeof storedDocumentSchema>;

/** Most documents of one `dataprep.list`: its reply has to fit into one message. */
export const mostListedDocuments = 500;

/** Newest first. */
export const listDocuments = defineMethod({
  service: 'dataprep',
  method: 'list',
  request: z.object({
    collection: nameSchema(128).optional(),
    /** Only documents whose name has this text, in any case. */
    search: z.string().max(255).optional(),
    offset: z.int().min(0).default(0),
    limit: z.int().min(1).max(mostListedDocuments).default(mostListedDocuments),
  }),
  reply: z.object({ documents: z.array(storedDocumentSchema) }),
});

/** A stored chunk of a document, as a person reads it. */
export const storedChunkSchema = z.object({
  id: z.string(),
  /** Position in its document, from 0. */
  index: z.int(),
  text: z.string(),
  metadata: metadataSchema,
});
export type StoredChunk = z.infer<typeof storedChunkSchema>;

/** A part of a document: the document itself and some of its chunks in order. */
export const documentChunksSchema = z.object({
  document: storedDocumentSchema,
  chunks: z.array(storedChunkSchema),
  has_more: z.boolean(),
});
export type DocumentChunks = z.infer<typeof documentChunksSchema>;

/**
 * `dataprep.chunks`: chunks of a document from a position on. Fewer than `limit` come back where they are long: a reply
 * has to fit into one message. Errors: not_found.
 */
export const readChunks = defineMethod({
  service: 'dataprep',
  method: 'chunks',
  request: z.object({
    id: z.string(),
    from: z.int().min(0).default(0),
    limit: z.int().min(1).max(100).default(50),
  }),
  reply: documentChunksSchema,
});

/** Deletes by file name, document id, or `all`; answers how many documents went. Errors: not_found. */
export const deleteDocuments = defineMethod({
  service: 'dataprep',
  method: 'delete',
  request: z.object({ file_path: nameSchema(4_096), collection: nameSchema(128).optional() }),
  reply: z.object({ deleted: z.int() }),
});

export const listCollections = defineMethod({
  service: 'dataprep',
  method: 'collections',
  request: z.object({}),
  reply: z.object({
    collections: z.array(z.string()),
    /** Documents of each, in the same order. */
    documents: z.array(z.int()).optional(),
  }),
});

/** Most characters of text that `dataprep.extract` gives. */
export const maxExtractedCharacters = 400_000;

/**
 * `dataprep.extract`: the text of one file in reading order, nothing stored. Paragraphs are parted by blank lines, list
 * items begin with `- `. Whoever put the file into the object store removes it afterwards.
 * Errors: unsupported_file, payload_too_large (the file, or its text), not_found, deadline_exceeded.
 */
export const extract = defineMethod({
  service: 'dataprep',
  method: 'extract',
  request: z.object({
    file: fileReferenceSchema,
    /** Longer text is cut there instead of refused. */
    max_characters: z.int().min(1).max(maxExtractedCharacters).optional(),
  }),
  reply: z.object({
    text: z.string(),
    title: z.string().optional(),
    /** Pages that hold text; paged formats only. */
    pages: z.int().optional(),
    /** True when the text was cut at `max_characters`. */
    truncated: z.boolean(),
  }),
});
export type ExtractedText = z.infer<typeof extract.reply>;
