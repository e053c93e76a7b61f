import { judge, type ParsedRequestOf, type ReplyOf } from '#platform/contracts';
import { RpcHandler, type RpcContext } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { GuardrailService } from './guardrail.service.js';

@Controller()
export class GuardrailRpcController {
  constructor(@Inject(GuardrailService) private readonly guardrail: GuardrailService) {}

  @RpcHandler(judge)
  judge(request: ParsedRequestOf<typeof judge>, { signal }: RpcContext): Promise<ReplyOf<typeof judge>> {
    return this.guardrail.judge(request, signal);
  }
}
