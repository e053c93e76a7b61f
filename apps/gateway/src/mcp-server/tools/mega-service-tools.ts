import { toJsonSchema, type JsonSchema } from '#contracts';
import { listParameters, type MegaServiceDefinition } from '#dag';
import { assertMayAsk } from '#service-kit';
import type { ChatService } from '../../chat/chat.service.js';
import { givesAnswers, outputKindOf } from '../../mega-services/definition-checks.js';
import type { MegaServiceBody } from '../../mega-services/mega-service-body.js';
import type { MegaServiceOutputs } from '../../mega-services/mega-service-outputs.js';
import { answerSchema, readAnswer } from './answer.js';
import { readsOnly, type McpTool, type McpToolContext, type McpToolResult } from './mcp-tool.js';
import { passagesAsText, toPassage } from './passages.js';

/** The services that run a mega service. */
export interface MegaServiceRunning {
  bodies: Pick<MegaServiceBody, 'receiveFields'>;
  outputs: Pick<MegaServiceOutputs, 'documents'>;
  chat: Pick<ChatService, 'runMegaService'>;
}

/** Fields of a chat that an agent has no use for in a tool. */
const question = {
  type: 'string',
  description: 'The question or the text',
};

/** A tool for each mega service that gives answers or documents. Its arguments are the JSON body of its path. */
export function megaServiceTools(
  definitions: readonly MegaServiceDefinition[],
  running: MegaServiceRunning,
  taken: ReadonlySet<string>,
): McpTool[] {
  const served = definitions.filter(
    (definition) => givesAnswers(definition) || outputKindOf(definition) === 'documents',
  );
  return served.map((definition) => toTool(definition, running, toolName(definition.name, taken)));
}

/** A name that MCP and the APIs of models accept, and that no other tool has. */
function toolName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 50);
  return taken.has(plain) ? `megaservice_${plain}` : plain;
}

function toTool(definition: MegaServiceDefinition, running: MegaServiceRunning, name: string): McpTool {
  return {
    name,
    title: definition.name,
    description: definition.description ?? `Runs the mega service ${definition.name}.`,
    inputSchema: inputSchemaOf(definition),
    ...(givesAnswers(definition) && { outputSchema: toJsonSchema(answerSchema, 'output', {}) }),
    annotations: { ...readsOnly, idempotentHint: false },
    scope: 'read',
    run: (args, context) => run(definition, running, args, context),
  };
}

function inputSchemaOf(definition: MegaServiceDefinition): JsonSchema {
  const hears = [...definition.nodes.values()].some(({ target }) => target.service === 'asr');
  const spoken = {
    audio: { type: 'string', description: 'A spoken question in base64, in place of the text' },
  };
  const properties: Record<string, unknown> = { messages: question, ...(hears && spoken) };
  for (const { name, schema, description } of listParameters(definition))
    properties[name] ??= { ...schema, ...(description !== undefined && { description }) };
  return { type: 'object', properties, ...(!hears && { required: ['messages'] }) };
}

/** Errors: insufficient_scope, and the errors of the mega service. */
async function run(
  definition: MegaServiceDefinition,
  { bodies, outputs, chat }: MegaServiceRunning,
  args: Record<string, unknown>,
  context: McpToolContext,
): Promise<McpToolResult> {
  const { call } = context;
  assertMayAsk(call, definition.name);
  const received = await bodies.receiveFields({ ...args, stream: false }, definition);
  try {
    if (givesAnswers(definition)) {
      const { chat: request, files } = received;
      return await readAnswer(await chat.runMegaService(definition, request, call, { files }), context);
    }
    const { body } = await outputs.documents(definition, received, call);
    const found = (body.reranked_docs ?? body.retrieved_docs ?? []).map(toPassage);
    return { text: passagesAsText(found), structured: { results: found } };
  } finally {
    await received.discard();
  }
}
