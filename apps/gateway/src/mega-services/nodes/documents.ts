import { embed, rerank, retrieve, type ReplyOf, type RetrievedDocument } from '#contracts';
import { conversationOf, type NodeCall } from '../mega-service-request.js';

/** The question as a vector. One longer than the model's limit is cut: its beginning still finds passages. */
export async function callEmbedding(call: NodeCall): Promise<string> {
  const { client, context, options } = call;
  const query = await call.searchedFor();
  const request = { truncate: true, ...context.parameters, inputs: [query] };
  const reply = await client.request(embed, request, options);
  context.report({ model: reply.model, promptTokens: reply.promptTokens });
  return reply.vectors;
}

/** The request's own inputs as vectors. */
export async function callEmbedInputs(call: NodeCall): Promise<ReplyOf<typeof embed>> {
  const { client, context, request, options } = call;
  const asked = request.embeddings ?? { inputs: [conversationOf(call).query] };
  const reply = await client.request(embed, { ...context.parameters, ...asked }, options);
  context.report({ model: reply.model, promptTokens: reply.promptTokens });
  return reply;
}

export async function callRetrieval(call: NodeCall): Promise<RetrievedDocument[]> {
  const { client, context, options } = call;
  const query = await call.searchedFor();
  const embedding = context.inputs['embedding'] as string | undefined;
  const reply = await client.request(retrieve, { ...context.parameters, query, embedding }, options);
  context.report({
    searchType: reply.searchType,
    documents: reply.documents.map(({ id, score }) => ({ id, score })),
  });
  return reply.documents;
}

export async function callReranking(call: NodeCall): Promise<RetrievedDocument[]> {
  const { client, context, options } = call;
  const documents = context.inputs['documents'] as RetrievedDocument[];
  if (documents.length === 0) return [];
  const texts = documents.map(behindHeading);
  const query = await call.searchedFor();
  const scores = documents.map(({ score }) => score);
  const reply = await client.request(rerank, { ...context.parameters, query, texts, scores }, options);
  context.report({ model: reply.model, results: reply.results });
  return reply.results.flatMap(({ index, score }) => {
    const document = documents[index];
    return document ? [{ ...document, score }] : [];
  });
}

/** A passage behind the heading that it stands below, which often names what the passage is about. */
export function behindHeading({ text, metadata }: RetrievedDocument): string {
  const { heading } = metadata;
  return typeof heading === 'string' && heading !== '' ? `${heading.split(' > ').at(-1)}: ${text}` : text;
}
