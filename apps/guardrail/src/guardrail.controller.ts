import { guardrailJudgementSchema, type GuardrailJudgement } from '#platform/contracts';
import { ApiOperation, Call, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { z } from 'zod';
import { GuardrailService } from './guardrail.service.js';

/**
 * The reference implementation's body of `/v1/guardrails`: a text, or a model's answer (`text`) to a question
 * (`prompt`). `parameters` set the sampling of the reference's model and have no effect on rules.
 */
const guardrailRequestSchema = z
  .object({
    text: z.string().min(1, 'must not be empty'),
    prompt: z.string().optional(),
    side: z.enum(['input', 'output']).optional(),
    id: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
  })
  .transform(({ side, prompt, ...rest }) => ({
    ...rest,
    side: side ?? (prompt === undefined ? ('input' as const) : ('output' as const)),
  }));
type GuardrailRequest = z.output<typeof guardrailRequestSchema>;

/** The judgement, with the fields of the reference implementation's answer. */
const answerSchema = guardrailJudgementSchema.extend({
  id: z.string(),
  text: z.string(),
  downstream_black_list: z.array(z.string()),
  revision: z.string(),
  model: z.string().optional(),
});

@Controller()
export class GuardrailController {
  constructor(@Inject(GuardrailService) private readonly guardrail: GuardrailService) {}

  @Post('v1/guardrails')
  @ApiOperation({ summary: 'Judge a text by the rules and the classifier', answer: answerSchema })
  @HttpCode(200)
  async judge(
    @Body(new SchemaPipe(guardrailRequestSchema)) { text, side, id }: GuardrailRequest,
    @Call() call: HttpCall,
  ) {
    const { judgements, revision, model } = await this.guardrail.judge({ texts: [text], side }, call.signal);
    const answers = judgements.map((judgement) => ({ ...judgement, ...referenceAnswer(judgement) }));
    return { id: id ?? call.requestId, ...answers[0], revision, model };
  }
}

/** As in the reference, this sentence replaces a blocked text, and the black list stops all later services. */
function referenceAnswer({ action, text, findings }: GuardrailJudgement) {
  if (action !== 'block') return { text, downstream_black_list: [] };
  const policies = findings.filter((finding) => finding.action === 'block');
  const names = policies.map(({ description }) => description).join(', ');
  return { text: `Violated policies: ${names}, please check your input.`, downstream_black_list: ['.*'] };
}
