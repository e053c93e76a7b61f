import { z } from 'zod';
import { collectionNameSchema, givenMetadataSchema, metadataSchema, nameSchema } from '../documents.js';
import { defineMethod } from './method.js';

/** Whether a name is that of an encoding that data preparation reads. */
function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label.trim()).encoding !== '';
  } catch {
    return /^(?:ibm|cp|dos)-?_?(?:437|850|852|865)$/i.test(label.trim());
  }
}

export const ingestParametersSchema = z.object({
  chunk_size: z.int().min(10).max(10_000).optional().describe('Target size of a chunk in words'),
  chunk_overlap: z.int().min(0).max(5_000).optional().describe('Words repeated from the previous chunk'),
  collection: collectionNameSchema.optional(),
  metadata: givenMetadataSchema
    .optional()
    .describe('Attributes written to every chunk; filters match on them'),
  encoding: z
    .string()
    .max(64)
    .refine(isEncoding, 'is not the name of an encoding, like windows-1251, shift_jis or cp850')
    .optional()
    .describe('Encoding of texts; otherwise it is found by their bytes'),
  keep_revisions: z
    .boolean('expected true or false')
    .optional()
    .describe('Keeps struck-out, deleted, inserted and hidden text, with marks'),
});
export type IngestParameters = z.infer<typeof ingestParametersSchema>;

/** Maximum bytes of a document's name: the database has an index of names, and its entries have a maximum size. */
const greatestNameBytes = 1_900;
const documentName = nameSchema(1_024).refine(
  (name) => Buffer.byteLength(name) <= greatestNameBytes,
  `is longer than ${greatestNameBytes} bytes`,
);
/** A link to a document; it is also the document's name. */
export const linkSchema = z.url({ error: 'is not a URL' }).max(greatestNameBytes);

/** A reference to a file in the NATS object store: max_payload keeps its bytes out of messages. */
export const fileReferenceSchema = z.object({
  objectId: z.string(),
  filename: documentName,
  mimeType: z.string(),
  bytes: z.int(),
  /** The offset of its bytes in the object, for a small file that shares an object with other files of its upload. */
  offset: z.int().min(0).optional(),
});
export type FileReference = z.infer<typeof fileReferenceSchema>;

/** What was read of a document, and what was not. */
export const readingReportSchema = z.object({
  /** For example `encoding`, `pages`, `sheets`, `tables`, `pictures`, `attachments`. */
  read: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  /** Parts that were not read, or not read for certain. */
  warnings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
});
export type ReadingReport = z.infer<typeof readingReportSchema>;

export const ingestedDocumentSchema = z.object({
  documentId: z.string(),
  filename: z.string(),
  chunks: z.int(),
  ...readingReportSchema.shape,
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
  /**
   * Units of work done within the stage: embedded chunks, finished files. In a job of several documents: the documents
   * that have ended.
   */
  completed: z.int(),
  total: z.int(),
  /** While a document is read: its pages, or the seconds of a recording. */
  part: z.object({ unit: z.enum(['page', 'second']), completed: z.int(), total: z.int() }).optional(),
  /** On the last event only. */
  documents: z.array(ingestedDocumentSchema).optional(),
  /** On the last event, if some documents of a batch failed. */
  failed: z.array(failedDocumentSchema).optional(),
});
export type IngestProgress = z.infer<typeof ingestProgressSchema>;

/** `dataprep.ingest`: reads, chunks, embeds and stores. Streams its progress; the last event has the documents. */
export const ingest = defineMethod({
  service: 'dataprep',
  method: 'ingest',
  request: ingestParametersSchema.extend({
    files: z.array(fileReferenceSchema).default([]),
    links: z.array(linkSchema).default([]),
    /** Owner of the vector store that `collection` names; documents without an owner are shared. */
    owner: z.string().min(1).optional(),
    /** Minimum time between two events, for callers that do not need all of them. Default: every event. */
    progressEveryMs: z.int().min(0).max(10_000).optional(),
  }),
  reply: ingestProgressSchema,
  streaming: true,
});

/**
 * Work that continues after the answer to its request. It is stored in Postgres, so that any instance can report it.
 */
export const ingestJobSchema = z.object({
  id: z.string(),
  state: z.enum(['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled']),
  /** The latest step of one of its instances; null until the work begins. */
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

/** Stops a job on any instance; a job that has ended does not change. Errors: not_found. */
export const cancelIngestJob = jobMethod('cancel-job');

/**
 * Pauses a job on any instance. Stored documents stay; an unfinished document starts again later. A job that has ended
 * does not change. Errors: not_found.
 */
export const pauseIngestJob = jobMethod('pause-job');

/** Resumes a paused job; any other job does not change. Errors: not_found. */
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
  /** Size of its file, if the file is kept. */
  originalBytes: z.int().optional(),
  /** Number of its warnings; absent without any. A list has the number only. */
  warningCount: z.int().optional(),
  ...readingReportSchema.shape,
});
export type StoredDocument = z.infer<typeof storedDocumentSchema>;

/** Maximum documents of one `dataprep.list`: its reply has to fit into one message. */
export const maxListedDocuments = 500;

/** Maximum position in a list: positions are 32-bit integers in Postgres. */
export const maxPosition = 2 ** 31 - 1;

/** Newest first. */
export const listDocuments = defineMethod({
  service: 'dataprep',
  method: 'list',
  request: z.object({
    collection: collectionNameSchema.optional(),
    /** Only documents whose name contains this text; the case is ignored. */
    search: z.string().max(255).optional(),
    offset: z.int().min(0).max(maxPosition).default(0),
    limit: z.int().min(1).max(maxListedDocuments).default(maxListedDocuments),
  }),
  reply: z.object({ documents: z.array(storedDocumentSchema) }),
});

/** A stored chunk of a document, for a reader. */
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
 * `dataprep.chunks`: chunks of a document from a position on. The reply has fewer than `limit` if they are long, because
 * it has to fit into one message. Errors: not_found.
 */
export const readChunks = defineMethod({
  service: 'dataprep',
  method: 'chunks',
  request: z.object({
    id: z.string(),
    from: z.int().min(0).max(maxPosition).default(0),
    limit: z.int().min(1).max(100).default(50),
  }),
  reply: documentChunksSchema,
});

/**
 * `dataprep.original`: a piece of the file that a document was read from, from a byte on; each reply says where the next piece
 * begins. Errors: not_found.
 */
export const readOriginal = defineMethod({
  service: 'dataprep',
  method: 'original',
  request: z.object({ id: z.string(), start: z.int().min(0).default(0) }),
  reply: z.object({
    filename: z.string(),
    mimeType: z.string(),
    /** Size of the whole file. */
    bytes: z.int(),
    /** The piece in base64: a quarter of a megabyte at most. */
    content: z.string(),
  }),
});
export type OriginalFile = z.infer<(typeof readOriginal)['reply']>;

/** Deletes by file name, document id, or `all`; returns the number of deleted documents. Errors: not_found. */
export const deleteDocuments = defineMethod({
  service: 'dataprep',
  method: 'delete',
  request: z.object({ file_path: nameSchema(4_096), collection: collectionNameSchema.optional() }),
  reply: z.object({ deleted: z.int() }),
});

export const listCollections = defineMethod({
  service: 'dataprep',
  method: 'collections',
  request: z.object({}),
  reply: z.object({
    collections: z.array(z.string()),
    /** The number of deleted documents for each, in the same order. */
    documents: z.array(z.int()).optional(),
  }),
});

/** Maximum characters of text that `dataprep.extract` returns. */
export const maxExtractedCharacters = 400_000;

/**
 * `dataprep.extract`: the text of one file in reading order; the service stores nothing. Blank lines separate paragraphs,
 * and list items begin with `- `. The caller puts the file into the object store and removes it afterwards.
 * Errors: unsupported_file, payload_too_large (the file, or its text), not_found, deadline_exceeded.
 */
export const extract = defineMethod({
  service: 'dataprep',
  method: 'extract',
  request: z.object({
    file: fileReferenceSchema,
    /** Longer text is cut here instead of refused. */
    max_characters: z.int().min(1).max(maxExtractedCharacters).optional(),
  }),
  reply: z.object({
    text: z.string(),
    title: z.string().optional(),
    /** Number of pages with text; paged formats only. */
    pages: z.int().optional(),
    /** True when the text was cut at `max_characters`. */
    truncated: z.boolean(),
  }),
});
export type ExtractedText = z.infer<typeof extract.reply>;
