import {
  embed,
  extract,
  generate,
  invalidField,
  maxExtractedCharacters,
  MegaNestError,
  summarize,
  transcribe,
  writeFaq,
  type ChatMessage,
  type FileReference,
  type GenerationChunk,
  type Neighbour,
  type ReplyOf,
  type RequestOf,
  type RetrievedDocument,
} from '#platform/contracts';
import { innermostHeading } from '#answers/evidence';
import { chatTaskOf } from '#answers/questions';
import { readNeighboursOf } from '../../documents/read-neighbours.js';
import { hasFiles } from '../../input-files/attached-files.js';
import {
  affinityOf,
  conversationOf,
  questionOf,
  textOf,
  type Conversation,
  type NodeCall,
} from '../mega-service-request.js';

/**
 * Whether a chat page asks for a title, tags or the like of a conversation. Documents do not answer that, so nothing is
 * searched, and the model gets no documents.
 */
function isTask(call: NodeCall): boolean {
  return chatTaskOf(conversationOf(call).messages) !== undefined;
}

/** Asks the language model for an answer, with the files of the messages and the documents of the node before it. */
export async function* callGenerate(call: NodeCall): AsyncGenerator<GenerationChunk, void, void> {
  const { client, context, options, images } = call;
  const { signal } = options;
  const { form, chatTemplateKwargs, labels, onDocuments } = call.request;
  const { messages: asked, documents } = await readDocuments(call);
  const whole = documents && call.plan().whole;
  if (whole?.notice !== undefined) {
    yield notice(whole.notice);
    return;
  }
  const neighbours = whole ? [] : await neighboursOf(documents ?? [], call);
  const request: RequestOf<typeof generate> = {
    ...context.parameters,
    ...form,
    ...(chatTemplateKwargs && { chat_template_kwargs: chatTemplateKwargs }),
    ...(labels && { labels }),
    messages: asked,
  };
  if (documents) {
    request.documents = documents;
    if (call.request.collection !== undefined) request.collection = call.request.collection;
    if (whole) request.reads_whole = whole.kind;
    if (neighbours) request.neighbours = neighbours;
    onDocuments?.(documents, neighbours ?? []);
    context.report({ documentIds: documents.map(({ id }) => id) });
  }
  const affinity = affinityOf(asked);
  yield* images.lend(asked, { signal }, (messages) =>
    client.stream(generate, { ...request, messages }, { ...options, affinity }),
  );
}

/** An answer of the gateway itself. */
function notice(text: string): GenerationChunk {
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  return { choice: 0, text, finishReason: 'stop', usage };
}

/**
 * The passages of the files in the messages, then the documents of the node before. Their scores have different scales,
 * and the question points at its files first. An empty list differs from an absent list: the search found no documents.
 */
async function readDocuments(
  call: NodeCall,
): Promise<{ messages: ChatMessage[]; documents?: RetrievedDocument[] }> {
  const { context, request } = call;
  const { messages } = conversationOf(call);
  if (isTask(call)) return { messages };
  const found = context.inputs['documents'] as RetrievedDocument[] | undefined;
  if (!request.readFiles || !hasFiles(messages)) return { messages, ...(found && { documents: found }) };
  const read = await request.readFiles(messages, await call.searchedFor(), call.options);
  const { problem, total } = read;
  context.report({
    files: { passages: total, read: read.documents.length },
    ...(problem && { degraded: { reranking: problem } }),
  });
  return { messages: read.messages, documents: [...read.documents, ...(found ?? [])] };
}

/**
 * The passages around the found ones, for a model that reads them. Without them the answer rests on the found passages
 * alone, which the receipt says. Undefined where they are not known: a model that does not read them, no answer.
 */
async function neighboursOf(
  documents: readonly RetrievedDocument[],
  { client, context, options, evidence }: NodeCall,
): Promise<Neighbour[] | undefined> {
  if (documents.length === 0) return undefined;
  const reads = await evidence();
  const { neighbours, problem } = await readNeighboursOf(documents, { client, options, reads });
  if (problem) context.report({ degraded: { neighbours: problem } });
  else if (neighbours.length > 0) context.report({ neighbours: neighbours.length });
  return reads && !problem ? neighbours : undefined;
}

/** The text of the request: its question, then its files in their order. */
export async function callExtract(call: NodeCall): Promise<string> {
  const { request, context } = call;
  const texts = [textOf(conversationOf(call).messages).trim()].filter(Boolean);
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

/** Asks the language model for a summary. */
export function callSummarize(call: NodeCall): AsyncIterable<GenerationChunk> {
  const { client, context, options } = call;
  const request = { ...context.parameters, text: writtenText(call) };
  return client.stream(summarize, request, options);
}

/** Asks the language model for questions and answers about a text. */
export function callFaq(call: NodeCall): AsyncIterable<GenerationChunk> {
  const { client, context, options } = call;
  const request = { ...context.parameters, text: writtenText(call) };
  return client.stream(writeFaq, request, options);
}

function writtenText(call: NodeCall): string {
  return (call.context.inputs['text'] as string | undefined) ?? textOf(conversationOf(call).messages);
}

/** The inputs of a request for embeddings as vectors. */
export async function callEmbedInputs(call: NodeCall): Promise<ReplyOf<typeof embed>> {
  const { client, context, request, options } = call;
  const asked = request.embeddings ?? { inputs: [conversationOf(call).query] };
  const reply = await client.request(embed, { ...context.parameters, ...asked }, options);
  context.report({ model: reply.model, promptTokens: reply.promptTokens });
  return reply;
}

/** A passage with its heading in front, because the heading often names the topic of the passage. */
export function behindHeading(document: RetrievedDocument): string {
  const heading = innermostHeading(document);
  return heading === '' ? document.text : `${heading}: ${document.text}`;
}

/**
 * Adds the transcript of the request's files to the last message of the user. A request without files keeps its
 * conversation, so that a question may be typed instead. Errors: invalid_request without files and question, or without
 * speech in the files.
 */
export async function callTranscribe(call: NodeCall): Promise<Conversation> {
  const { context, request } = call;
  const { messages, query } = conversationOf(call);
  const files = request.files ?? [];
  if (files.length === 0 && query.trim() !== '') return { messages, query };
  if (files.length === 0) {
    throw invalidField('audio', 'send a file in base64, or a form with files');
  }
  const texts: string[] = [];
  for (const file of files) {
    for await (const { audio, segment } of call.client.stream(
      transcribe,
      { ...context.parameters, file },
      call.options,
    )) {
      if (audio) context.report({ model: audio.model, language: audio.language, seconds: audio.seconds });
      if (segment) texts.push(segment.text);
    }
  }
  const said = texts.join(' ');
  if (!said) {
    throw invalidField('audio', 'contains no speech');
  }
  const spoken = withSpoken(messages, said);
  return { messages: spoken, query: questionOf(spoken) };
}

/** Appends the transcript to the user's last message, or adds it as a new turn. */
function withSpoken(messages: readonly ChatMessage[], said: string): ChatMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: said }];
  const content = [last.content, said].filter(Boolean).join('\n');
  return [...messages.slice(0, -1), { ...last, content }];
}
