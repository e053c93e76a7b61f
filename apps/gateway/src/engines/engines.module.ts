import { reloadEngines, storedEngines, type ReplyOf } from '#platform/contracts';
import { RpcClient, RpcHandler } from '#platform/messaging';
import { Controller, Inject, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { EngineDirectory } from './engine-directory.js';
import { EnginesController } from './engines.controller.js';
import { WorkersController } from './workers.controller.js';

const answerMs = 2_000;

/** Tells the LLM services which engines are stored. */
@Controller()
export class EnginesRpcController implements OnApplicationBootstrap {
  constructor(
    @Inject(EngineDirectory) private readonly directory: EngineDirectory,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  @RpcHandler(storedEngines)
  async stored(): Promise<ReplyOf<typeof storedEngines>> {
    return { engines: await this.directory.all() };
  }

  /** LLM services that have started before this gateway could not ask it. */
  onApplicationBootstrap(): void {
    void this.client
      .requestAll(reloadEngines, {}, { deadline: Date.now() + answerMs })
      .catch(() => undefined);
  }
}

/** Engines that are added while MegaNest runs. */
@Module({
  controllers: [EnginesController, EnginesRpcController, WorkersController],
  providers: [EngineDirectory],
})
export class EnginesModule {}
