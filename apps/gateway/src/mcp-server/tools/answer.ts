import type { GenerationChunk } from '#platform/contracts';
import { collectChatCompletion, type ChatCompletion } from '#api/openai-api';
import { z } from 'zod';
import type { ChatRun } from '../../chat/chat-model.js';
import type { McpToolContext, McpToolResult } from '../../document-tools/mcp-tool.js';

/** Milliseconds between two reports of an answer that is being written. */
const progressEveryMs = 250;

const citationSchema = z.object({
  number: z.int().describe('The number [n] in the answer'),
  quote: z.string(),
  title: z.string(),
  url: z.string(),
  document: z.string().optional().describe('Id of the document, for open and find'),
  filename: z.string().optional(),
  page: z.int().optional(),
  page_label: z.string().optional(),
  time: z.string().optional(),
  start: z.int().describe('Characters of the answer before the cited part'),
  end: z.int(),
});

/** The answer of a mega service or a model, in the result of a tool. */
export const answerSchema = z.object({
  answer: z.string(),
  model: z.string(),
  citations: z.array(citationSchema),
  answer_kind: z.enum(['answer', 'closest', 'none']).optional(),
  confidence: z.number().optional(),
  refused: z.boolean().optional(),
  finish_reason: z.string(),
  ignored: z.array(z.string()).optional().describe('Arguments without effect'),
});
type Answer = z.output<typeof answerSchema>;

/** Reads a chat to its end, reports its progress, and returns the answer with its sources. */
export async function readAnswer(run: ChatRun, { progress }: McpToolContext): Promise<McpToolResult> {
  const completion = await collectChatCompletion(reporting(run.chunks, progress), run.identity);
  const structured = { ...toAnswer(completion), ...(run.ignored.length > 0 && { ignored: run.ignored }) };
  return { text: asText(structured), structured };
}

async function* reporting(
  chunks: AsyncIterable<GenerationChunk>,
  progress: McpToolContext['progress'],
): AsyncGenerator<GenerationChunk, void, void> {
  let written = '';
  let reportedAt = 0;
  for await (const chunk of chunks) {
    written += chunk.text;
    const now = performance.now();
    if (chunk.text !== '' && now - reportedAt >= progressEveryMs) {
      reportedAt = now;
      progress({ progress: written.length, message: written.slice(-200) });
    }
    yield chunk;
  }
}

function toAnswer({ choices, model }: ChatCompletion): Answer {
  const [choice] = choices;
  if (!choice) return { answer: '', model, citations: [], finish_reason: 'stop' };
  const { message, finish_reason, answer_kind, confidence } = choice;
  const { content, refusal, annotations = [] } = message;
  return {
    answer: content ?? refusal ?? '',
    model,
    citations: annotations.map(({ url_citation: cited }) => ({
      number: cited.passage,
      quote: cited.quote,
      title: cited.title,
      url: cited.url,
      ...(cited.document_id !== undefined && { document: cited.document_id }),
      ...(cited.filename !== undefined && { filename: cited.filename }),
      ...(cited.page !== undefined && { page: cited.page }),
      ...(cited.page_label !== undefined && { page_label: cited.page_label }),
      ...(cited.time !== undefined && { time: cited.time }),
      start: cited.start_index,
      end: cited.end_index,
    })),
    ...(answer_kind && { answer_kind }),
    ...(confidence !== undefined && { confidence }),
    ...(refusal !== null && { refused: true }),
    finish_reason,
  };
}

/** The answer with its sources as lines, for clients that show a model the text only. */
function asText({ answer, citations }: Answer): string {
  const sources = new Map(
    citations.map(({ number, title, quote, url }) => [number, `[${number}] ${title}: "${quote}" ${url}`]),
  );
  return sources.size === 0 ? answer : `${answer}\n\nSources:\n${[...sources.values()].join('\n')}`;
}
