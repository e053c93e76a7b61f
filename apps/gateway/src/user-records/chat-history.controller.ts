import { inputItemSchema, newId, newItemId, toChatMessages, type StoredItem } from '#api/responses';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import {
  ConversationsRepository,
  Database,
  UserRecordsRepository,
  type ItemRecord,
  type RecordScope,
} from '#platform/storage';
import { Body, Controller, Header, HttpCode, Inject, Injectable, Post } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import {
  chatHistoryAnswer,
  chatHistoryIdSchema,
  createChatHistorySchema,
  deletedAnswer,
  found,
  given,
  idOrTrue,
  type ChatHistoryEntry,
  type ChatHistoryId,
  type CreateChatHistory,
} from './user-record.requests.js';

type ChatData = CreateChatHistory['data'];

interface ChatHistory {
  data: ChatData;
  first_query: string;
  /** Number of items when the history was saved. Other APIs may have added items to the conversation since. */
  items: number;
}

/** Maximum number of conversations in a list, in addition to the histories. */
const maxListed = 1_000;

/**
 * Chat histories in the form of the OPEA reference. Each one is also a conversation of `/v1/conversations` with the
 * same id and with the user in its metadata. Each conversation with a user in its metadata is also a chat history.
 */
@Injectable()
export class ChatHistoryService {
  readonly #records: UserRecordsRepository<ChatHistory>;

  constructor(
    @Inject(Database) database: Database,
    @Inject(gatewayEnvironment) environment: GatewayEnvironment,
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
  ) {
    this.#records = new UserRecordsRepository(database, 'chathistory', environment.CONVERSATIONS_LIMIT_BYTES);
  }

  /** Creates or replaces a history. Returns the id of a new history, or true for a replaced one. Errors: not_found. */
  async save(owner: string, { data, id, first_query }: CreateChatHistory): Promise<string | true> {
    const scope = { owner, user: data.user };
    const items = itemsOf(data);
    const firstQuery = first_query ?? firstQueryOf(data);
    const history = { data, first_query: firstQuery, items: items.length };
    if (id) {
      await this.#replace(scope, id, history);
      await this.conversations.replaceItems(owner, id, items);
      return true;
    }
    const created = newId('conv');
    await this.#records.create(scope, created, history);
    const metadata = { user: data.user, title: firstQuery.slice(0, 512) };
    try {
      await this.conversations.create(owner, { id: created, metadata, items });
    } catch (error) {
      await this.#records.delete(scope, created).catch(() => undefined);
      throw error;
    }
    return created;
  }

  /** The histories of a user: first the stored ones, then the user's other conversations. */
  async list(scope: RecordScope): Promise<ChatHistoryEntry[]> {
    const [records, conversations] = await Promise.all([
      this.#records.list(scope),
      this.conversations.ofUser(scope.owner, scope.user, maxListed),
    ]);
    const known = new Set(records.map(({ id }) => id));
    const others = conversations.filter(({ id }) => !known.has(id));
    return [
      ...records.map(({ id, data }) => ({ id, first_query: data.first_query })),
      ...others.map(({ id, metadata }) => ({ id, first_query: metadata['title'] ?? '' })),
    ];
  }

  /** The stored history, with the current messages of the conversation. Errors: not_found. */
  async find(scope: RecordScope, id: string): Promise<ChatData> {
    const record = await this.#records.find(scope, id);
    const conversation = await this.conversations.find(scope.owner, id);
    const isOwn = conversation?.metadata['user'] === scope.user;
    const items = isOwn ? await this.conversations.items(id) : [];
    if (record && items.length === record.items) return record.data;
    if (!isOwn) return found(record?.data, `The chat history ${id}`, 'id');
    const { messages } = toChatMessages(items as unknown as StoredItem[], { images: 'describe' });
    const turns = messages.map(({ role, content }) => ({ role, content }));
    return { ...record?.data, user: scope.user, messages: turns };
  }

  /** Deletes a history and its conversation. Returns false if neither exists. */
  async delete(scope: RecordScope, id: string): Promise<boolean> {
    const deleted = await this.#records.delete(scope, id);
    const conversation = await this.conversations.find(scope.owner, id);
    if (conversation?.metadata['user'] !== scope.user) return deleted;
    return this.conversations.delete(scope.owner, id);
  }

  async #replace(scope: RecordScope, id: string, history: ChatHistory): Promise<void> {
    if (await this.#records.update(scope, id, history)) return;
    const conversation = await this.conversations.find(scope.owner, id);
    const isOwn = conversation?.metadata['user'] === scope.user;
    await this.#records.create(scope, found(isOwn ? id : undefined, `The chat history ${id}`, 'id'), history);
  }
}

/** The messages as items of a conversation. Messages without a role or a text are left out. */
function itemsOf({ messages }: ChatData): ItemRecord[] {
  const turns = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages;
  return turns.flatMap(({ role, content }) => {
    if (role === undefined || typeof content !== 'string') return [];
    const item = inputItemSchema.safeParse({ type: 'message', role, content });
    if (!item.success) return [];
    return [{ ...item.data, id: newItemId('message') }];
  });
}

function firstQueryOf({ messages }: ChatData): string {
  if (typeof messages === 'string') return messages;
  const first = messages.find(({ role }) => role === 'user') ?? messages[0];
  return typeof first?.content === 'string' ? first.content : '';
}

/** The chat history service of the OPEA reference. */
@Controller('v1/chathistory')
export class ChatHistoryController {
  constructor(@Inject(ChatHistoryService) private readonly histories: ChatHistoryService) {}

  @Post('create')
  @ApiOperation({ summary: 'Store a chat history, or replace one', answer: idOrTrue })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async create(
    @Body(new SchemaPipe(createChatHistorySchema)) body: CreateChatHistory,
    @Owner() owner: string,
  ): Promise<string> {
    return JSON.stringify(await this.histories.save(owner, body));
  }

  @Post('get')
  @ApiOperation({
    summary: 'List the chat histories of a user, or get one of them',
    answer: chatHistoryAnswer,
  })
  @HttpCode(200)
  get(@Body(new SchemaPipe(chatHistoryIdSchema)) { user, id }: ChatHistoryId, @Owner() owner: string) {
    const scope = { owner, user };
    return id ? this.histories.find(scope, id) : this.histories.list(scope);
  }

  @Post('delete')
  @ApiOperation({ summary: 'Delete a chat history', answer: deletedAnswer })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async delete(
    @Body(new SchemaPipe(chatHistoryIdSchema)) { user, id }: ChatHistoryId,
    @Owner() owner: string,
  ): Promise<string> {
    return JSON.stringify(await this.histories.delete({ owner, user }, given(id, 'id')));
  }
}
