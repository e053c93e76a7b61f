import { detokenize, invalidField, tokenize, tokensBounds } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { chatTools, chatToolsSchema, messagesSchema, toChatMessages } from '#api/openai-api';
import { ApiOperation, BodyBounds, Call, SchemaPipe, setIgnored, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { LanguageModelsOnly } from './language-models-only.js';

const tokenizeSchema = z.looseObject({
  ...chatToolsSchema.shape,
  model: z.string().nullish(),
  prompt: z.string().nullish().describe('The name of the text in vLLM and SGLang'),
  content: z.string().nullish().describe('The name of the text in llama.cpp'),
  text: z.string().nullish(),
  messages: messagesSchema.optional(),
  add_special_tokens: z.boolean().nullish(),
  add_special: z.boolean().nullish().describe('The name in llama.cpp'),
  return_token_strs: z.boolean().nullish(),
});
const ownFields = new Set(Object.keys(tokenizeSchema.shape));

const detokenizeSchema = z.looseObject({
  model: z.string().nullish(),
  tokens: z.array(z.int().min(0)).min(1).max(1_000_000),
});

/** Tokens of a text, and back, in the form of vLLM and SGLang. */
@Controller()
export class TokensController {
  constructor(
    @Inject(LanguageModelsOnly) private readonly models: LanguageModelsOnly,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  @Post(['v1/tokenize', 'tokenize'])
  @ApiOperation({
    summary: 'Split a text or a conversation into tokens',
    answer: z.object({
      count: z.int(),
      max_model_len: z.int(),
      tokens: z.array(z.int()),
      token_strs: z.array(z.string()).nullable(),
      model: z.string(),
    }),
  })
  @HttpCode(200)
  async tokenize(
    @Body(new SchemaPipe(tokenizeSchema)) body: z.output<typeof tokenizeSchema>,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    setIgnored(
      reply,
      Object.keys(body).filter((name) => !ownFields.has(name)),
    );
    const text = body.prompt ?? body.content ?? body.text ?? undefined;
    if ((text === undefined) === (body.messages === undefined))
      throw invalidField('prompt', 'send either a prompt or messages');
    const { id } = await this.models.find(body.model, call);
    const { tools } = chatTools(body);
    const special = body.add_special_tokens ?? body.add_special ?? undefined;
    const payload = {
      ...(text !== undefined && { text }),
      ...(body.messages && { messages: toChatMessages(body.messages) }),
      ...(tools && { tools }),
      ...(special !== undefined && { add_special_tokens: special }),
    };
    const { tokens, texts, maxInputTokens } = await this.client.request(tokenize, payload, {
      ...call,
      model: id,
    });
    const shown = body.return_token_strs === true && texts.length === tokens.length ? texts : null;
    return { count: tokens.length, max_model_len: maxInputTokens, tokens, token_strs: shown, model: id };
  }

  @Post(['v1/detokenize', 'detokenize'])
  @BodyBounds(tokensBounds)
  @ApiOperation({
    summary: 'Turn tokens into a text',
    answer: z.object({ prompt: z.string(), text: z.string(), model: z.string() }),
  })
  @HttpCode(200)
  async detokenize(
    @Body(new SchemaPipe(detokenizeSchema)) body: z.output<typeof detokenizeSchema>,
    @Call() call: HttpCall,
  ) {
    const { id } = await this.models.find(body.model, call);
    const { text } = await this.client.request(detokenize, { tokens: body.tokens }, { ...call, model: id });
    return { prompt: text, text, model: id };
  }
}
