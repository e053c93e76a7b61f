import { setTimeout as wait } from 'node:timers/promises';
import { MegaNestError } from '#contracts';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { MegaServiceCatalog } from '../megaservice/mega-service-catalog.js';
import { ChatService, type ChatRun } from '../openai/chat.service.js';
import { ContextWindow } from './context-window.js';
import type { GenerationJob } from './response-plan.js';

/** Pause before an overloaded engine is asked again, where it did not say. */
const defaultRetrySeconds = 1;

/** Starts the generation of a response, by a mega service or by the language model. */
@Injectable()
export class GenerationStarter {
  constructor(
    @Inject(ChatService) private readonly chat: ChatService,
    @Inject(ContextWindow) private readonly window: ContextWindow,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
  ) {}

  /** Errors: model_not_found, unsupported_parameter, context_length_exceeded; others surface in the chunks. */
  async start(job: GenerationJob, call: HttpCall): Promise<ChatRun> {
    const { chat, truncation } = job;
    const messages = this.#mayBeTooLong(job)
      ? await this.window.fit(chat.messages, truncation, chat.parameters.max_tokens, call)
      : chat.messages;
    return this.chat.start({ ...chat, messages }, call);
  }

  /** As {@link start}, but where the engine is full it is asked again until the deadline: nobody waits for it. */
  async startPatiently(job: GenerationJob, call: HttpCall): Promise<ChatRun> {
    for (;;) {
      const run = await this.start(job, call);
      const chunks = run.chunks[Symbol.asyncIterator]();
      try {
        const first = await chunks.next();
        return { ...run, chunks: withFirst(first, chunks) };
      } catch (error) {
        const pauseMs = pauseAfter(error);
        if (pauseMs === undefined || Date.now() + pauseMs > call.deadline) throw error;
        await wait(pauseMs, undefined, { signal: call.signal });
      }
    }
  }

  /** The language model refuses what is too long by itself; a mega service would drop turns unasked. */
  #mayBeTooLong({ chat, truncation }: GenerationJob): boolean {
    const isMegaService = chat.model === undefined || this.megaServices.find(chat.model) !== undefined;
    return chat.messages.length > 1 && (truncation === 'auto' || isMegaService);
  }
}

function pauseAfter(error: unknown): number | undefined {
  if (!(error instanceof MegaNestError) || error.code !== 'overloaded') return undefined;
  return (error.retryAfter ?? defaultRetrySeconds) * 1_000;
}

async function* withFirst<Item>(
  first: IteratorResult<Item>,
  rest: AsyncIterator<Item>,
): AsyncGenerator<Item> {
  try {
    for (let step = first; !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}
