import { invalidField, type ChatMessage, type GenerationChunk } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import type { ChatCompletionRequest } from '#api/openai-api';
import { newItemId } from '#api/responses';
import { ownerOf, type HttpCall } from '#platform/service-kit';
import { ConversationsRepository, type ItemRecord } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { ChatRun } from '../chat/chat-model.js';
import { ChatService } from '../chat/chat.service.js';
import type { Attachments } from '../mega-services/mega-service-runner.js';

/** Maximum number of turns that are read of a thread. The prompt may hold fewer. */
const maxTurns = 50;

/** Whether a mega service continues threads: its last node is an agent. */
function takesThreads({ nodes, output }: MegaServiceDefinition): boolean {
  return nodes.get(output)?.target.service === 'llm.agent';
}

/**
 * OPEA's `thread_id`: a conversation of `/v1/conversations`. An id of such a conversation continues it; any other text
 * is a name, from which the id is made for each owner.
 */
@Injectable()
export class Threads {
  constructor(
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
    @Inject(ChatService) private readonly chat: ChatService,
  ) {}

  /**
   * Runs a mega service. An agent gets the turns of the request's thread, and the thread gets the new ones. Errors: those
   * of {@link ChatService.runMegaService}; invalid_request for a thread that is not a text or does not exist.
   */
  async run(
    definition: MegaServiceDefinition,
    request: ChatCompletionRequest,
    call: HttpCall,
    attachments: Attachments,
  ): Promise<ChatRun> {
    const { thread_id: name, ...extra } = request.extra;
    if (name === undefined || !takesThreads(definition))
      return this.chat.runMegaService(definition, request, call, attachments);
    const thread = await this.#open(call.owner ?? ownerOf({}), name);
    const messages = [...thread.messages, ...request.messages];
    const run = await this.chat.runMegaService(
      definition,
      { ...request, messages, extra },
      call,
      attachments,
    );
    const questions = request.messages.filter(({ role }) => role === 'user');
    return { ...run, chunks: keepingAnswer(run.chunks, (answer) => thread.add(questions, answer)) };
  }

  /** The first turn creates a thread. */
  async #open(owner: string, thread: unknown): Promise<Thread> {
    if ((typeof thread !== 'string' && typeof thread !== 'number') || `${thread}`.length > 512)
      throw invalidField('thread_id', 'must be a text of at most 512 characters');
    const name = `${thread}`;
    const id = name.startsWith('conv_') ? name : idOf(owner, name);
    const isKnown = (await this.conversations.find(owner, id)) !== undefined;
    if (!isKnown && id === name) throw invalidField('thread_id', `the conversation ${id} does not exist`);
    const items = isKnown ? await this.conversations.items(id) : [];
    return {
      messages: items.flatMap(turnOf).slice(-maxTurns),
      add: async (questions, answer) => {
        const added = [...questions.map(itemOf), itemOf({ role: 'assistant', content: answer })];
        // Another request of the same thread may have created it.
        if (isKnown || (await this.conversations.find(owner, id)))
          return this.conversations.addItems(owner, id, added);
        await this.conversations.create(owner, { id, metadata: { thread_id: name }, items: added });
      },
    };
  }
}

/** A thread: its turns so far. */
interface Thread {
  readonly messages: readonly ChatMessage[];
  /** Adds the turns of the caller and the answer. */
  readonly add: (questions: readonly ChatMessage[], answer: string) => Promise<void>;
}

/** Passes an answer on, and adds it to the thread at its end. An answer that fails or is left early is not added. */
async function* keepingAnswer(
  chunks: AsyncIterable<GenerationChunk>,
  keep: (answer: string) => Promise<void>,
): AsyncGenerator<GenerationChunk> {
  let answer = '';
  for await (const chunk of chunks) {
    if (chunk.choice === 0) answer += chunk.text;
    yield chunk;
  }
  await keep(answer);
}

function idOf(owner: string, name: string): string {
  return `conv_${createHash('sha256').update(`${owner}\0${name}`).digest('hex').slice(0, 48)}`;
}

function itemOf({ role, content }: Pick<ChatMessage, 'role' | 'content'>): ItemRecord {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  const part = { type, text: content, ...(role === 'assistant' && { annotations: [] }) };
  return { id: newItemId('message'), type: 'message', status: 'completed', role, content: [part] };
}

function turnOf({ type, role, content }: ItemRecord): ChatMessage[] {
  if (type !== 'message' || (role !== 'user' && role !== 'assistant') || !Array.isArray(content)) return [];
  const texts = (content as { text?: unknown }[]).flatMap(({ text }) =>
    typeof text === 'string' ? text : [],
  );
  return [{ role, content: texts.join('\n') }];
}
