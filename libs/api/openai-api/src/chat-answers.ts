import {
  addressOf,
  type ToolCallDelta,
  pageFields,
  timeFields,
  timeOfQuote,
  type PageFields,
  type TimeFields,
  quoteFields,
  type QuoteFields,
  type Citation,
  type RetrievedDocument,
} from '#platform/contracts';
import { z } from 'zod';

/** Schemas of the answers of OpenAI's endpoints, for the OpenAPI documents; the tests check real answers with them. */

const usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'function_call', 'content_filter']);
const completionHead = {
  id: z.string(),
  created: z.int().describe('Unix seconds'),
  model: z.string(),
  system_fingerprint: z.string().optional(),
};
const logprobs = z.looseObject({}).nullish();
/** Of choices that quote documents. */
const certainty = {
  answer_kind: z
    .enum(['answer', 'closest', 'none'])
    .optional()
    .describe('An answer, the closest passage, or none'),
  confidence: z.number().min(0).max(1).optional().describe('Probability that answer_kind is right'),
};
/** Of choices that a model wrote from documents. */
const support = {
  citation_coverage: z.number().min(0).max(1).optional().describe('Share of the statements with a citation'),
  unknown_citations: z
    .array(z.int())
    .optional()
    .describe('Numbers without a passage, which were removed from the text'),
};

/** OpenAI's `chat.completion`. */
export const chatCompletionSchema = z.looseObject({
  ...completionHead,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.string().nullable(),
        annotations: z.array(z.looseObject({ type: z.string() })).optional(),
        tool_calls: z.array(z.looseObject({ id: z.string(), type: z.string() })).optional(),
      }),
      logprobs,
      finish_reason: finishReason,
      ...certainty,
      ...support,
    }),
  ),
  usage,
});

/** OpenAI's `chat.completion.chunk`, the data of each event of a stream; the stream ends in `[DONE]`. */
export const chatCompletionChunkSchema = z.looseObject({
  ...completionHead,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      delta: z.looseObject({
        role: z.literal('assistant').optional(),
        content: z.string().nullish(),
        refusal: z.string().nullish(),
      }),
      logprobs,
      finish_reason: finishReason.nullable(),
      ...certainty,
      ...support,
    }),
  ),
  usage: usage.nullish(),
});

/** A call in an answer. */
export type CompletionToolCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string } }
  | { id: string; type: 'custom'; custom: { name: string; input: string } };

/** A piece of a call in a stream: the first piece of each index has id, type and name. */
export interface ToolCallPiece {
  index: number;
  id?: string;
  type?: 'function' | 'custom';
  function?: { name?: string; arguments: string };
  custom?: { name?: string; input: string };
}

/** Collects the pieces of one answer's calls. */
export class GatheredCalls {
  readonly #calls = new Map<number, CompletionToolCall>();

  get all(): CompletionToolCall[] {
    return [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
  }

  add(delta: ToolCallDelta): void {
    const call = this.#calls.get(delta.index) ?? newCall(delta);
    this.#calls.set(delta.index, call);
    if (call.type === 'function') call.function.arguments += delta.input;
    else call.custom.input += delta.input;
  }
}

/** Converts the pieces of one answer's calls to OpenAI's format; remembers the type of each call. */
export class CallPieces {
  readonly #types = new Map<number, 'function' | 'custom'>();

  piece({ index, id, name, kind, input }: ToolCallDelta): ToolCallPiece {
    const type = this.#types.get(index) ?? kind ?? 'function';
    const first = !this.#types.has(index);
    this.#types.set(index, type);
    const named = first ? { name: name ?? '' } : {};
    return {
      index,
      ...(first && { id: id ?? `call_${index}`, type }),
      ...(type === 'function' && { function: { ...named, arguments: input } }),
      ...(type === 'custom' && { custom: { ...named, input } }),
    };
  }
}

function newCall({ index, id, name, kind }: ToolCallDelta): CompletionToolCall {
  const callId = id ?? `call_${index}`;
  if (kind === 'custom') return { id: callId, type: 'custom', custom: { name: name ?? '', input: '' } };
  return { id: callId, type: 'function', function: { name: name ?? '', arguments: '' } };
}

/** OpenAI's `url_citation`, with the passage that it points to. */
export interface CitationAnnotation {
  type: 'url_citation';
  url_citation: {
    start_index: number;
    end_index: number;
    title: string;
    /** The web address of a linked document, or of the passage in the page; the URN where there is none. */
    url: string;
    /** Extensions of OpenAI's fields: the document of the quote, and the position in it. */
    urn: string;
    document_id?: string;
    filename?: string;
    chunk_id: string;
  } & QuoteFields &
    Partial<PageFields & TimeFields>;
}

/** Resolves citations to the documents of the grounded answer; drops citations without a document or a quote. */
export function citationAnnotations(
  citations: readonly Citation[],
  documents: readonly RetrievedDocument[],
): CitationAnnotation[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return citations.flatMap((citation) => {
    const document = byId.get(citation.documentId);
    return document && citation.quote !== '' ? [annotation(citation, document)] : [];
  });
}

function annotation(citation: Citation, document: RetrievedDocument): CitationAnnotation {
  const field = (name: string) => {
    const value = document.metadata[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const documentId = field('document_id');
  const time = timeOfQuote(document, citation.quote);
  const urn = `urn:meganest:document:${documentId ?? document.id}`;
  return {
    type: 'url_citation',
    url_citation: {
      start_index: citation.startIndex,
      end_index: citation.endIndex,
      title: field('title') ?? field('heading') ?? field('filename') ?? document.id,
      url: addressOf(document) ?? urn,
      urn,
      document_id: documentId,
      filename: field('filename'),
      ...pageFields(document, citation.quote),
      ...(time && timeFields(time)),
      chunk_id: document.id,
      ...quoteFields(citation, document),
    },
  };
}
