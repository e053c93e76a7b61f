import {
  extract,
  generate,
  maxExtractedCharacters,
  MegaNestError,
  summarise,
  writeFaq,
  type FileReference,
  type GenerationChunk,
  type RequestOf,
  type RetrievedDocument,
  invalidField,
} from '#contracts';
import { affinityOf, conversationOf, type NodeCall } from '../mega-service-request.js';

export function callGenerate(call: NodeCall): AsyncIterable<GenerationChunk> {
  const { client, context, options } = call;
  const documents = context.inputs['documents'] as RetrievedDocument[] | undefined;
  const request: RequestOf<typeof generate> = {
    ...context.parameters,
    ...call.request.form,
    messages: conversationOf(call).messages,
  };
  // None found is not the same as none looked for.
  if (documents) {
    request.documents = documents;
    context.report({ documentIds: documents.map(({ id }) => id) });
  }
  const affinity = affinityOf(request.messages);
  return client.stream(generate, request, { ...options, affinity });
}

/** What the request brings to be read: what is said in it, then its files, in their order. */
export async function callExtract(call: NodeCall): Promise<string> {
  const { request, context } = call;
  const texts = [conversationOf(call).query.trim()].filter(Boolean);
  for (const [index, file] of (request.files ?? []).entries()) texts.push(await readFile(call, file, index));
  if (texts.length === 0) {
    throw invalidField('messages', 'there is no text to read: send a text, or files');
  }
  const text = texts.join('\n\n');
  context.report({ files: request.files?.length ?? 0, characters: text.length });
  if (text.length <= maxExtractedCharacters) return text;
  const limit = `${maxExtractedCharacters} characters`;
  throw new MegaNestError('payload_too_large', { what: 'The text', limit, param: 'messages' });
}

async function readFile({ client, options }: NodeCall, file: FileReference, index: number): Promise<string> {
  try {
    return (await client.request(extract, { file }, options)).text;
  } catch (error) {
    if (!(error instanceof MegaNestError) || error.status >= 499) throw error;
    throw MegaNestError.fromBody({ ...error.toBody(), param: `files[${index}]` });
  }
}

export function callSummarise(call: NodeCall): AsyncIterable<GenerationChunk> {
  const { client, context, options } = call;
  const request = { ...context.parameters, text: textOf(call) };
  return client.stream(summarise, request, options);
}

export function callFaq(call: NodeCall): AsyncIterable<GenerationChunk> {
  const { client, context, options } = call;
  const request = { ...context.parameters, text: textOf(call) };
  return client.stream(writeFaq, request, options);
}

function textOf(call: NodeCall): string {
  return (call.context.inputs['text'] as string | undefined) ?? conversationOf(call).query;
}
