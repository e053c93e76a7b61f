import type { ChatMessage, GenerationChunk, RetrievedDocument } from '#platform/contracts';
import { countWords, estimateTokens, firstWords } from '#platform/foundation';
import type { Note } from '../grounding/passages.js';
import type { GenerateRequest } from '../tools/tool-format.js';
import { UsageSum } from './text-writer.js';

interface NotingModel {
  /** Limit for the tokens of prompt and answer together. */
  readonly maxInputTokens: number;
  /** An engine ends its answers by its own limits. */
  readonly limitsItself: boolean;
  /** Fields that ask the model not to reason. */
  readonly withoutThinking: Pick<GenerateRequest, 'chat_template_kwargs'>;
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<GenerationChunk>;
}

/** Limit for the concurrent parts; the engine batches concurrent requests. */
const breadth = 4;
/** Share of the window for the passages; the rest is for the question, the conversation and the answer. */
const share = 0.6;
/** Upper estimate for the tokens around each passage. */
const labelTokens = 12;
/** Limits for the notes about one part. */
const noteWords = { min: 40, max: 400 };
/** Tokens of a note where the model has no limit of its own. */
const noteTokens = 400;

/** Whether a model reads these passages in one prompt. */
export function fitsWhole(
  documents: readonly RetrievedDocument[],
  { maxInputTokens }: Pick<NotingModel, 'maxInputTokens'>,
): boolean {
  return sum(documents) <= maxInputTokens * share;
}

/**
 * Takes notes of each part of documents that are too long for one prompt: the map step; the answer from the notes is the
 * reduce step. Yields empty chunks that show the progress, and returns the notes with the usage. Errors: the errors of
 * the model.
 */
export async function* takeNotes(
  { documents, messages }: { documents: readonly RetrievedDocument[]; messages: readonly ChatMessage[] },
  model: NotingModel,
  signal: AbortSignal,
): AsyncGenerator<GenerationChunk, { notes: Note[]; usage: UsageSum }, void> {
  const parts = partsOf(documents, model.maxInputTokens * share);
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const words = Math.floor((model.maxInputTokens * share) / parts.length / 2);
  const limit = Math.min(noteWords.max, Math.max(noteWords.min, words));
  const usage = new UsageSum();
  const notes: Note[] = [];
  for (let first = 0; first < parts.length; first += breadth) {
    const together = parts.slice(first, first + breadth);
    const texts = await Promise.all(
      together.map((part) => noteOf({ ...part, question, limit }, model, { signal, usage })),
    );
    for (const [index, { label, passages }] of together.entries())
      notes.push({ text: firstWords(texts[index]!, limit), label, passages });
    yield { choice: 0, text: '' };
  }
  return { notes: notes.filter(({ text }) => text !== ''), usage };
}

interface Part {
  label: string;
  passages: RetrievedDocument[];
}

/** Parts of at most so many tokens, each of one document. */
function partsOf(documents: readonly RetrievedDocument[], maxTokens: number): Part[] {
  const parts: (Part & { id: unknown; file: string; tokens: number })[] = [];
  for (const document of documents) {
    const { document_id: id, filename } = document.metadata;
    const file = typeof filename === 'string' ? filename : 'document';
    const tokens = tokensOf(document);
    const open = parts.at(-1);
    if (open && open.id === id && open.tokens + tokens <= maxTokens) {
      open.passages.push(document);
      open.tokens += tokens;
    } else parts.push({ id, file, tokens, label: '', passages: [document] });
  }
  return parts.map(({ id, file, passages }, index) => {
    const ofDocument = parts.filter((part) => part.id === id);
    const number = ofDocument.indexOf(parts[index]!) + 1;
    return { label: `${file}, part ${number} of ${ofDocument.length}`, passages };
  });
}

async function noteOf(
  { label, passages, question, limit }: Part & { question: string; limit: number },
  model: NotingModel,
  { signal, usage }: { signal: AbortSignal; usage: UsageSum },
): Promise<string> {
  const content = [
    `Take notes of this part of a document for the request below: what the part says that belongs into the answer, with names, numbers and dates. At most ${limit} words, in the language of the request; give the notes alone.`,
    `### ${label}:\n${passages.map(({ text }) => text).join('\n\n')}`,
    `### Request: ${question}`,
  ].join('\n\n');
  let text = '';
  const request = {
    messages: [{ role: 'user' as const, content }],
    ...model.withoutThinking,
    ...(!model.limitsItself && { max_tokens: noteTokens }),
    whole: true,
  };
  for await (const chunk of model.generate(request, signal)) {
    text += chunk.text;
    if (chunk.usage) usage.add(chunk.usage);
  }
  return text.trim();
}

function sum(documents: readonly RetrievedDocument[]): number {
  return documents.reduce((tokens, document) => tokens + tokensOf(document), 0);
}

function tokensOf({ text }: RetrievedDocument): number {
  return Math.max(estimateTokens(text), countWords(text)) + labelTokens;
}
