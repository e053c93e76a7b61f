import { newId } from '#responses';
import { ApiOperation, Owner, SchemaPipe } from '#service-kit';
import { Database, UserRecordsRepository } from '#storage';
import { Body, Controller, Header, HttpCode, Inject, Post } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import {
  createPromptSchema,
  deletedAnswer,
  found,
  given,
  idOrTrue,
  promptAnswer,
  promptIdSchema,
  type CreatePrompt,
  type PromptId,
} from './user-record.requests.js';

/** The reference's registry of prompts. */
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
    summary: 'The prompts of a user, those with a keyword, or the text of one',
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
