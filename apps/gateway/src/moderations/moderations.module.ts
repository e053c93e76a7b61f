import { judge, unsupportedField } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { ApiOperation, Call, Metrics, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Module, Post } from '@nestjs/common';
import { z } from 'zod';
import { toModeration } from './categories.js';

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const moderationSchema = z.looseObject({
  input: z.union([
    z.string(),
    z
      .array(z.union([z.string(), part]))
      .min(1)
      .max(1_000),
  ]),
  model: z.string().nullish(),
});

const flags = z.record(z.string(), z.boolean());
const answerSchema = z.object({
  id: z.string(),
  model: z.string(),
  results: z.array(
    z.object({
      flagged: z.boolean(),
      categories: flags,
      category_scores: z.record(z.string(), z.number()),
      category_applied_input_types: z.record(z.string(), z.array(z.string())),
    }),
  ),
});

/** OpenAI's moderations, by the rules and the classifier of the guardrail. */
@Controller()
export class ModerationsController {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Post(['v1/moderations', 'moderations'])
  @ApiOperation({ summary: 'Judge texts by the rules of the guardrail', answer: answerSchema })
  @HttpCode(200)
  create(
    @Body(new SchemaPipe(moderationSchema)) { input }: z.output<typeof moderationSchema>,
    @Call() call: HttpCall,
  ): Promise<z.output<typeof answerSchema>> {
    return this.metrics.measure('moderations', async () => {
      const texts = textsOf(input);
      const reply = await this.client.request(judge, { texts, side: 'input' }, call);
      return {
        id: `modr-${call.requestId}`,
        model: reply.model ?? `guardrail-${reply.revision}`,
        results: reply.judgements.map(toModeration),
      };
    });
  }
}

/** Parts of one input are judged together, as one text; strings each for itself. */
function textsOf(input: z.output<typeof moderationSchema>['input']): string[] {
  if (typeof input === 'string') return [input];
  const strings = input.filter((each) => typeof each === 'string');
  if (strings.length === input.length) return strings;
  const texts = input.map((each, index) => {
    if (typeof each === 'string') return each;
    if (each.type === 'text' && each.text !== undefined) return each.text;
    throw unsupportedField(`input[${index}]`, `parts of type ${each.type} are not judged here`);
  });
  return [texts.join('\n')];
}

/** OpenAI's moderations. */
@Module({ controllers: [ModerationsController] })
export class ModerationsModule {}
