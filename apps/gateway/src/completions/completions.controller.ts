import {
  complete,
  detokenize,
  MegaNestError,
  tokensBounds,
  type GenerationChunk,
  type RequestOf,
} from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { errorFrame, renamingErrors } from '#api/openai-api';
import {
  ApiOperation,
  BodyBounds,
  Call,
  measureGeneration,
  Metrics,
  SchemaPipe,
  sendEventStream,
  setIgnored,
  type HttpCall,
} from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import {
  collectCompletion,
  completionFrames,
  textCompletionSchema,
  type PromptRun,
} from './completion-answer.js';
import { completionRequestSchema, type CompletionRequest } from './completion-request.js';
import { LanguageModelsOnly } from './language-models-only.js';

/** OpenAI's completions of prompts: the language model goes on with a text as it is. */
@Controller()
export class CompletionsController {
  constructor(
    @Inject(LanguageModelsOnly) private readonly models: LanguageModelsOnly,
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Post(['v1/completions', 'completions'])
  @BodyBounds(tokensBounds)
  @ApiOperation({
    summary: 'Complete prompts with the language model',
    answer: textCompletionSchema,
    events: textCompletionSchema,
  })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(completionRequestSchema)) request: CompletionRequest,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const info = await this.models.find(request.model, call);
    const head = {
      id: `cmpl-${randomUUID().replaceAll('-', '')}`,
      created: Math.floor(Date.now() / 1_000),
      model: info.id,
      system_fingerprint: `fp_${info.revision}`,
    };
    const ignored = [...request.ignored];
    const { n = 1 } = request.parameters;
    const runs = await Promise.all(
      request.prompts.map((prompt) => this.#run(prompt, request, { ...call, model: info.id }, ignored)),
    );
    const setHeaders = () => setIgnored(reply, ignored);
    if (request.stream) {
      const frames = completionFrames(runs, head, { n, includeUsage: request.includeUsage });
      return sendEventStream(reply, frames, errorFrame, { beforeHead: setHeaders });
    }
    const completion = await collectCompletion(runs, head, n);
    setHeaders();
    await reply.status(200).send(completion);
  }

  async #run(
    prompt: string | number[],
    request: CompletionRequest,
    call: HttpCall,
    ignored: string[],
  ): Promise<PromptRun> {
    const { echo, isEmpty, parameters, suffix, user } = request;
    const echoed = echo ? await this.#textOf(prompt, call) : '';
    const payload: RequestOf<typeof complete> = {
      ...parameters,
      prompt,
      ...(suffix !== undefined && { suffix }),
      ...(user !== undefined && { labels: { user } }),
    };
    const generated = measureGeneration(
      this.metrics,
      'complete',
      this.client.stream(complete, payload, call),
      {
        onChunk: (chunk) => ignored.push(...(chunk.ignored ?? [])),
        countUsage: true,
        genAi: { side: 'client', model: call.model ?? '' },
      },
    );
    const chunks = renamingErrors(generated, namedPrompt);
    return { chunks: isEmpty ? withoutText(chunks) : chunks, echoed };
  }

  async #textOf(prompt: string | number[], call: HttpCall): Promise<string> {
    if (typeof prompt === 'string') return prompt;
    return (await this.client.request(detokenize, { tokens: prompt }, call)).text;
  }
}

/** The prompt without a completion: the engine counts its tokens only when it generates one. */
async function* withoutText(
  chunks: AsyncIterable<GenerationChunk>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const { logprobs: _logprobs, ...chunk } of chunks)
    yield { ...chunk, text: '', ...(chunk.usage && { usage: { ...chunk.usage, completionTokens: 0 } }) };
}

/** The error with the field of the request: the service calls a prompt `messages`. */
function namedPrompt(error: unknown): unknown {
  if (!(error instanceof MegaNestError) || error.param !== 'messages') return error;
  return MegaNestError.fromBody({ ...error.toBody(), param: 'prompt' });
}
