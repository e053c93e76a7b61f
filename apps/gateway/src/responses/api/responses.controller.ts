import type { MegaNestError } from '#platform/contracts';
import { listOf, pollAfter } from '#api/openai-api';
import {
  createResponseSchema,
  eventFrames,
  modelTools,
  type ResponseEvent,
  type ResponseObject,
  type ResponseRequest,
} from '#api/responses';
import {
  ApiOperation,
  Call,
  Owner,
  SchemaPipe,
  sendEventStream,
  setIgnored,
  setSupport,
  type HttpCall,
} from '#platform/service-kit';
import { ResponseItemsRepository } from '#platform/storage';
import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { setStepHeaders } from '../../chat/chat-reply.js';
import { ContextWindow } from '../context/context-window.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { ResponsePlanner } from '../execution/response-planner.js';
import { ResponseReader, ResponsesService, untilEnd } from '../execution/responses.service.js';
import type { ResponseRun } from '../execution/response-run.js';
import {
  deletedAnswer,
  inputTokensAnswer,
  itemListAnswer,
  pageQuerySchema,
  responseAnswer,
  responseEvent,
  retrieveQuerySchema,
  type PageQuery,
  type RetrieveQuery,
} from './response-answers.js';

@Controller(['v1/responses', 'responses'])
export class ResponsesController {
  constructor(
    @Inject(ResponsesService) private readonly responses: ResponsesService,
    @Inject(ResponseReader) private readonly reader: ResponseReader,
    @Inject(ResponsePlanner) private readonly planner: ResponsePlanner,
    @Inject(ContextWindow) private readonly window: ContextWindow,
    @Inject(ResponseItemsRepository) private readonly items: ResponseItemsRepository,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a response', answer: responseAnswer, events: responseEvent })
  async create(
    @Body(new SchemaPipe(createResponseSchema)) request: ResponseRequest,
    @Owner() owner: string,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
  ): Promise<void> {
    const created = await this.responses.create(owner, request, call, idempotencyKey);
    if ('earlier' in created) return this.#sendEarlier(owner, created.earlier, request, call, reply);
    const { run, plan } = created;
    if (request.stream) {
      setResponseHeaders(reply, plan, run);
      const follow = run.isDurable
        ? await this.reader.follow(owner, run.id, -1, call.signal)
        : run.log.follow();
      return sendResponseStream(reply, follow);
    }
    const response = run.isDurable ? plan.initial : await this.responses.whole(run);
    setResponseHeaders(reply, plan, run);
    await sendResponse(reply, response);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Show a response, or stream its events',
    answer: responseAnswer,
    events: responseEvent,
  })
  async retrieve(
    @Param('id') id: string,
    @Query(new SchemaPipe(retrieveQuerySchema)) query: RetrieveQuery,
    @Owner() owner: string,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (query.include.length > 0) void reply.header('x-meganest-ignored', 'include');
    if (!query.stream) return sendResponse(reply, await this.reader.snapshot(owner, id));
    await sendResponseStream(reply, await this.reader.follow(owner, id, query.starting_after, call.signal));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a response', answer: deletedAnswer })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    await this.responses.delete(owner, id);
    return { id, object: 'response' as const, deleted: true };
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Cancel a response', answer: responseAnswer })
  @HttpCode(200)
  cancel(@Param('id') id: string, @Owner() owner: string, @Call() call: HttpCall) {
    return this.responses.cancel(owner, id, call.signal);
  }

  @Get(':id/input_items')
  @ApiOperation({ summary: 'List the input items of a response', answer: itemListAnswer })
  async inputItems(
    @Param('id') id: string,
    @Query(new SchemaPipe(pageQuerySchema)) page: PageQuery,
    @Owner() owner: string,
  ) {
    await this.reader.stored(owner, id);
    const { items, hasMore } = await this.items.inputPage(id, page);
    return listOf(items, hasMore);
  }

  @Post('input_tokens')
  @ApiOperation({ summary: 'Count the tokens of a request', answer: inputTokensAnswer })
  @HttpCode(200)
  async inputTokens(
    @Body(new SchemaPipe(createResponseSchema)) request: ResponseRequest,
    @Owner() owner: string,
    @Call() call: HttpCall,
  ) {
    const { job, model } = await this.planner.plan(owner, request, { call });
    const { tools } = modelTools(request.settings.tools);
    const counting = { ...call, model: model?.languageModel };
    const input_tokens = await this.window.count(job.chat.messages, counting, tools);
    return { object: 'response.input_tokens' as const, input_tokens };
  }

  /** Answers a repeated Idempotency-Key with the same response, in the form that this request asks for. */
  async #sendEarlier(
    owner: string,
    id: string,
    request: ResponseRequest,
    call: HttpCall,
    reply: FastifyReply,
  ): Promise<void> {
    const events = await this.reader.follow(owner, id, -1, call.signal);
    if (request.stream) return sendResponseStream(reply, events);
    if (!request.settings.background) await untilEnd(events);
    await sendResponse(reply, await this.reader.snapshot(owner, id));
  }
}

/** Sets the headers for ignored fields and, where they are known by then, for failed steps and the times of the steps. */
function setResponseHeaders(reply: FastifyReply, plan: ResponsePlan, run: ResponseRun): void {
  const ignored = [...new Set([...plan.ignored, ...(run.generation?.ignored ?? [])])];
  setIgnored(reply, ignored);
  setStepHeaders(reply, run.generation?.degraded ?? [], run.generation?.receipt());
  setSupport(reply, run.generation?.supports ?? []);
}

async function sendResponse(reply: FastifyReply, response: ResponseObject): Promise<void> {
  await reply.status(200).headers(pollAfter(response)).send(response);
}

/** Streams a log as server-sent events, ended by `[DONE]`. */
async function sendResponseStream(reply: FastifyReply, events: AsyncIterable<ResponseEvent>): Promise<void> {
  await sendEventStream(reply, eventFrames(events), brokenFrame);
}

/** An error while the log is read. It is not an event of the log, so that a client can resume after the last event. */
function brokenFrame({ code, type, message, param }: MegaNestError): string {
  const event = {
    type: 'error',
    code,
    message,
    param,
    error: { type, code, message, param },
    sequence_number: -1,
  };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}
