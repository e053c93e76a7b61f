import { decodeVectors, isOtherModel, tokensBounds, tooLongToEmbed } from '#platform/contracts';
import {
  embeddingRequestSchema,
  embeddingResponse,
  embeddingResponseSchema,
  type EmbeddingRequest,
  type EmbeddingResponse,
} from '#api/openai-api';
import { ApiOperation, BodyBounds, Call, SchemaPipe, setIgnored, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { EmbeddingService } from './embedding.service.js';

/** The request body of Text Embeddings Inference. */
const teiRequestSchema = z.object({
  inputs: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2_048)])
    .superRefine((given, context) => {
      const problem = tooLongToEmbed([given].flat());
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    }),
  truncate: z.boolean().default(false),
  prompt_name: z.enum(['query', 'document', 'passage']).nullish(),
  normalize: z.literal(true, 'must be true: vectors are always normalized').optional(),
});

@Controller()
export class EmbeddingController {
  constructor(@Inject(EmbeddingService) private readonly embedding: EmbeddingService) {}

  @Post('v1/embeddings')
  @BodyBounds(tokensBounds)
  @ApiOperation({ summary: 'Turn texts into vectors', answer: embeddingResponseSchema })
  @HttpCode(200)
  async embeddings(
    @Body(new SchemaPipe(embeddingRequestSchema)) body: EmbeddingRequest,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EmbeddingResponse> {
    const { inputs, dimensions, input_type, encoding_format, model } = body;
    // OPEA's clients send the model of their own engine. The one model of this service answers.
    if (isOtherModel(model, this.embedding.modelId)) setIgnored(reply, ['model']);
    return embeddingResponse(
      await this.embedding.embed({ inputs, dimensions, input_type }, call),
      encoding_format,
    );
  }

  @Post('embed')
  @ApiOperation({
    summary: 'Turn texts into vectors, in the format of Text Embeddings Inference',
    answer: z.array(z.array(z.number())),
  })
  @HttpCode(200)
  async tei(
    @Body(new SchemaPipe(teiRequestSchema)) body: z.infer<typeof teiRequestSchema>,
    @Call() call: HttpCall,
  ): Promise<number[][]> {
    const inputs = typeof body.inputs === 'string' ? [body.inputs] : body.inputs;
    const { truncate, prompt_name: name } = body;
    const input_type = name ? (name === 'query' ? 'query' : 'document') : undefined;
    const reply = await this.embedding.embed({ inputs, truncate, input_type }, call);
    return decodeVectors(reply.vectors, reply.dimensions).map((vector) => [...vector]);
  }
}
