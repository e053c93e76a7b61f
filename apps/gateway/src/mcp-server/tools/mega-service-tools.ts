import { toJsonSchema, type JsonSchema } from '#platform/contracts';
import { listParameters, type MegaServiceDefinition } from '#platform/dag';
import { assertMayAsk } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { ChatService } from '../../chat/chat.service.js';
import { givesAnswers, outputKindOf } from '../../mega-services/definition-checks.js';
import { MegaServiceBody } from '../../mega-services/mega-service-body.js';
import { MegaServiceCatalog } from '../../mega-services/mega-service-catalog.js';
import { MegaServiceOutputs } from '../../mega-services/mega-service-outputs.js';
import { answerSchema, readAnswer } from './answer.js';
import {
  readsOnly,
  type McpTool,
  type McpToolContext,
  type McpToolResult,
} from '../../document-tools/mcp-tool.js';
import { passagesAsText, toPassage } from '../../document-tools/passages.js';

const question = { type: 'string', description: 'The question or the text' };

/** The tools of the mega services. */
@Injectable()
export class MegaServiceTools {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceBody) private readonly bodies: MegaServiceBody,
    @Inject(MegaServiceOutputs) private readonly outputs: MegaServiceOutputs,
    @Inject(ChatService) private readonly chat: ChatService,
  ) {}

  /**
   * A tool for each mega service that gives answers or documents, as the files are now, but not for `except`. Its
   * arguments are the JSON body of its path. `taken`: names of other tools.
   */
  list(taken: ReadonlySet<string>, except: MegaServiceDefinition | undefined): McpTool[] {
    const served = this.megaServices
      .list()
      .filter((each) => each !== except && (givesAnswers(each) || outputKindOf(each) === 'documents'));
    return served.map((definition) => this.#toTool(definition, toolName(definition.name, taken)));
  }

  #toTool(definition: MegaServiceDefinition, name: string): McpTool {
    return {
      name,
      title: definition.name,
      description: definition.description ?? `Runs the mega service ${definition.name}.`,
      inputSchema: inputSchemaOf(definition),
      ...(givesAnswers(definition) && { outputSchema: toJsonSchema(answerSchema, 'output', {}) }),
      annotations: { ...readsOnly, idempotentHint: false },
      scope: 'read',
      run: (args, context) => this.#run(definition, args, context),
    };
  }

  /** Errors: insufficient_scope, and the errors of the mega service. */
  async #run(
    definition: MegaServiceDefinition,
    args: Record<string, unknown>,
    context: McpToolContext,
  ): Promise<McpToolResult> {
    const { call } = context;
    assertMayAsk(call, definition.name);
    const received = await this.bodies.receiveFields({ ...args, stream: false }, definition);
    try {
      if (givesAnswers(definition)) {
        const { chat: request, files } = received;
        return await readAnswer(
          await this.chat.runMegaService(definition, request, call, { files }),
          context,
        );
      }
      const { body } = await this.outputs.documents(definition, received, call);
      const found = (body.reranked_docs ?? body.retrieved_docs ?? []).map(toPassage);
      return { text: passagesAsText(found), structured: { results: found } };
    } finally {
      await received.discard();
    }
  }
}

/** A name that MCP and the APIs of models accept, and that no other tool has. */
function toolName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 50);
  return taken.has(plain) ? `megaservice_${plain}` : plain;
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
