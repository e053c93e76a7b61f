import { newId } from '#api/responses';
import { ApiOperation, Owner, SchemaPipe } from '#platform/service-kit';
import { Database, UserRecordsRepository } from '#platform/storage';
import { Body, Controller, Header, HttpCode, Inject, Module, Post } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { ChatHistoryController, ChatHistoryService } from './chat-history.controller.js';
import {
  createFeedbackSchema,
  createPromptSchema,
  deletedAnswer,
  feedbackAnswer,
  feedbackIdSchema,
  found,
  given,
  idOrTrue,
  promptAnswer,
  promptIdSchema,
  type CreateFeedback,
  type CreatePrompt,
  type FeedbackId,
  type PromptId,
} from './user-record.requests.js';

/** The prompt registry of the OPEA reference. */
@Controller('v1/prompt')
export class PromptsController {
  readonly #records: UserRecordsRepository<{ prompt_text: string }>;

  constructor(
    @Inject(Database) database: Database,
    @Inject(gatewayEnvironment) environment: GatewayEnvironment,
  ) {
    this.#records = new UserRecordsRepository(database, 'prompt', environment.CONVERSATIONS_LIMIT_BYTES);
  }

  @Post('create')
  @ApiOperation({ summary: 'Store a prompt', answer: idOrTrue })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async create(
    @Body(new SchemaPipe(createPromptSchema)) { user, prompt_text }: CreatePrompt,
    @Owner() owner: string,
  ): Promise<string> {
    const id = newId('prompt');
    await this.#records.create({ owner, user }, id, { prompt_text });
    return JSON.stringify(id);
  }

  @Post('get')
  @ApiOperation({
    summary: 'List the prompts of a user, with an optional filter, or get the text of one prompt',
    answer: promptAnswer,
  })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async get(
    @Body(new SchemaPipe(promptIdSchema)) { user, prompt_id, prompt_text, keyword }: PromptId,
    @Owner() owner: string,
  ): Promise<string> {
    const scope = { owner, user };
    if (prompt_id) {
      const prompt = await this.#records.find(scope, prompt_id);
      return JSON.stringify(found(prompt, `The prompt ${prompt_id}`, 'prompt_id').prompt_text);
    }
    const wanted = (prompt_text ?? keyword ?? '').toLowerCase();
    const records = await this.#records.list(scope);
    const kept = records.filter(({ data }) => data.prompt_text.toLowerCase().includes(wanted));
    return JSON.stringify(kept.map(({ id, data }) => ({ id, user, ...data })));
  }

  @Post('delete')
  @ApiOperation({ summary: 'Delete a prompt', answer: deletedAnswer })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async delete(
    @Body(new SchemaPipe(promptIdSchema)) { user, prompt_id }: PromptId,
    @Owner() owner: string,
  ): Promise<string> {
    return JSON.stringify(await this.#records.delete({ owner, user }, given(prompt_id, 'prompt_id')));
  }
}

type Feedback = Pick<CreateFeedback, 'chat_data' | 'feedback_data'> & { chat_id: string | null };

/** The feedback service of the OPEA reference. */
@Controller('v1/feedback')
export class FeedbackController {
  readonly #records: UserRecordsRepository<Feedback>;

  constructor(
    @Inject(Database) database: Database,
    @Inject(gatewayEnvironment) environment: GatewayEnvironment,
  ) {
    this.#records = new UserRecordsRepository(database, 'feedback', environment.CONVERSATIONS_LIMIT_BYTES);
  }

  @Post('create')
  @ApiOperation({ summary: 'Store feedback on an answer, or replace it', answer: idOrTrue })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async create(
    @Body(new SchemaPipe(createFeedbackSchema)) { feedback_id, ...body }: CreateFeedback,
    @Owner() owner: string,
  ): Promise<string> {
    const scope = { owner, user: body.chat_data.user };
    const feedback = { ...body, chat_id: body.chat_id ?? null };
    if (feedback_id) {
      const isThere = await this.#records.update(scope, feedback_id, feedback);
      return JSON.stringify(found(isThere || undefined, `The feedback ${feedback_id}`, 'feedback_id'));
    }
    const id = newId('feedback');
    await this.#records.create(scope, id, feedback);
    return JSON.stringify(id);
  }

  /** Returns lists without `feedback_data`, like the OPEA reference. */
  @Post(['get', 'get_id'])
  @ApiOperation({ summary: 'List the feedback of a user, or get one entry', answer: feedbackAnswer })
  @HttpCode(200)
  async get(
    @Body(new SchemaPipe(feedbackIdSchema)) { user, feedback_id }: FeedbackId,
    @Owner() owner: string,
  ) {
    const scope = { owner, user };
    if (feedback_id)
      return found(
        await this.#records.find(scope, feedback_id),
        `The feedback ${feedback_id}`,
        'feedback_id',
      );
    const records = await this.#records.list(scope);
    return records.map(({ id, data: { feedback_data: _verdict, ...chat } }) => ({
      ...chat,
      feedback_id: id,
    }));
  }

  @Post('delete')
  @ApiOperation({ summary: 'Delete feedback', answer: deletedAnswer })
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async delete(
    @Body(new SchemaPipe(feedbackIdSchema)) { user, feedback_id }: FeedbackId,
    @Owner() owner: string,
  ): Promise<string> {
    return JSON.stringify(await this.#records.delete({ owner, user }, given(feedback_id, 'feedback_id')));
  }
}

/** Chat histories, feedback and prompts of users, as in the OPEA reference. */
@Module({
  controllers: [ChatHistoryController, FeedbackController, PromptsController],
  providers: [ChatHistoryService],
})
export class UserRecordsModule {}
