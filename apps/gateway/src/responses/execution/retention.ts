import { createLogger } from '#service-kit';
import { ConversationsRepository, ResponsesRepository, StoredCompletionsRepository } from '#storage';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';

const dayMs = 24 * 60 * 60 * 1_000;
const everyMs = 10 * 60 * 1_000;

/** Removes responses, chat completions and conversations that have had their time, or are more than may be kept. */
@Injectable()
export class Retention implements OnModuleInit, BeforeApplicationShutdown {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(StoredCompletionsRepository) private readonly completions: StoredCompletionsRepository,
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  onModuleInit(): void {
    const logger = createLogger('gateway', this.environment.LOG_LEVEL);
    const attempt = () =>
      void this.removeOld().catch((error: unknown) =>
        logger.warn({ err: error as Error }, 'could not remove old responses'),
      );
    attempt();
    this.#timer = setInterval(attempt, everyMs).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  async removeOld(): Promise<void> {
    const { RESPONSES_TTL_DAYS: days, CONVERSATIONS_TTL_DAYS: conversationDays } = this.environment;
    if (conversationDays > 0) await this.conversations.deleteOlderThan(conversationDays * dayMs);
    for (const kept of [this.responses, this.completions]) {
      if (days > 0) await kept.deleteOlderThan(days * dayMs);
      await kept.deleteBeyond();
    }
  }
}
