import { parseOrThrow } from '#platform/contracts';
import { collectionField } from '#api/dataprep-api';
import { chatCompletionRequestSchema } from '#api/openai-api';
import { z } from 'zod';
import type { ChatService } from '../../chat/chat.service.js';
import { answerSchema, readAnswer } from './answer.js';
import { defineTool, readsOnly, type McpTool } from '../../document-tools/mcp-tool.js';

const input = z.strictObject({
  question: z.string().min(1),
  collection: collectionField.describe('Collection of documents; absent: the default one'),
  model: z.string().min(1).optional().describe('A mega service or model; absent: the default mega service'),
});

/** The tool `ask`. */
export function askTool(chat: ChatService): McpTool {
  return defineTool({
    name: 'ask',
    title: 'Ask the documents',
    description:
      'Answers a question from the ingested documents, with the quotes that the answer rests on. For more context use ' +
      'search and open.',
    input,
    output: answerSchema,
    annotations: { ...readsOnly, idempotentHint: false },
    scope: 'read',
    run: async ({ question, ...rest }, context) => {
      const request = parseOrThrow(chatCompletionRequestSchema, {
        ...rest,
        messages: question,
        stream: false,
      });
      return readAnswer(await chat.start(request, context.call), context);
    },
  });
}
