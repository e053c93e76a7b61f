import {
  findEngine,
  listEngines,
  localEngines,
  reloadEngines,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { RpcHandler } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { EngineRegistry } from './engine-registry.js';

/** The engines of this instance, for the gateway. */
@Controller()
export class EnginesRpcController {
  constructor(@Inject(EngineRegistry) private readonly engines: EngineRegistry) {}

  @RpcHandler(listEngines)
  list(): ReplyOf<typeof listEngines> {
    return { engines: this.engines.status(), problems: [...this.engines.problems] };
  }

  @RpcHandler(findEngine)
  find(request: ParsedRequestOf<typeof findEngine>): Promise<ReplyOf<typeof findEngine>> {
    return this.engines.find(request);
  }

  @RpcHandler(localEngines)
  async local(): Promise<ReplyOf<typeof localEngines>> {
    return { engines: await this.engines.local() };
  }

  @RpcHandler(reloadEngines)
  async reload(): Promise<object> {
    await this.engines.reload();
    return {};
  }
}
