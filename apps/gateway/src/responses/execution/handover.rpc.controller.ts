import { takeOverResponses } from '#platform/contracts';
import { RpcClient, RpcHandler } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { ResponseRuns } from './response-runs.js';
import { ResponseSweeper } from './response-sweeper.js';

/** A gateway that does not answer within this time takes the responses over when it looks for expired leases. */
const answerMs = 2_000;

/** Makes another gateway continue the background responses of one that stops at once. */
@Controller()
export class HandoverRpcController {
  constructor(
    @Inject(ResponseSweeper) private readonly sweeper: ResponseSweeper,
    @Inject(RpcClient) client: RpcClient,
    @Inject(ResponseRuns) runs: ResponseRuns,
  ) {
    runs.onReleased = () => client.requestAll(takeOverResponses, {}, { deadline: Date.now() + answerMs });
  }

  @RpcHandler(takeOverResponses)
  async takeOver(): Promise<object> {
    await this.sweeper.takeOver();
    return {};
  }
}
