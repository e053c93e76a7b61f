import { toChatMessages, type MachineStep } from '#responses';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { ContextWindow } from '../context/context-window.js';
import type { PlannedCompaction, ResponsePlan } from '../context/response-plan.js';
import { Compactor } from './compactor.js';

/** Share of the window from which on a context is compacted where the caller leaves it to the server. */
const defaultShare = 4 / 5;

/** Compacts the context of a response before it is made, where its request asks for that. */
@Injectable()
export class ContextCompaction {
  constructor(
    @Inject(ContextWindow) private readonly window: ContextWindow,
    @Inject(Compactor) private readonly compactor: Compactor,
  ) {}

  /**
   * Shows the compaction as an item of the response; returns what the response goes on from, or undefined where the
   * compaction is all that was asked for. Errors: those of the language model.
   */
  async *compact(
    plan: ResponsePlan,
    call: HttpCall,
  ): AsyncGenerator<MachineStep, ResponsePlan | undefined, void> {
    const { compaction, chat } = plan.job;
    if (!compaction || !(await this.#isDue(compaction, plan, call))) return plan;
    const { items, only } = compaction;
    const instructions = compaction.instructions ?? undefined;
    const request = { owner: plan.owner, items, instructions, keepLastTurn: !only };
    const { item, items: left, usage } = await this.compactor.compact(request, call);
    yield { type: 'item_added', item };
    yield { type: 'item_done', item };
    yield { type: 'chunk', chunk: { choice: 0, text: '', usage } };
    if (only) return undefined;
    const { messages } = toChatMessages(left, { images: 'take' });
    if (compaction.instructions !== null)
      messages.unshift({ role: 'system', content: compaction.instructions });
    return { ...plan, job: { ...plan.job, chat: { ...chat, messages } } };
  }

  async #isDue(
    { threshold, only }: PlannedCompaction,
    { job }: ResponsePlan,
    call: HttpCall,
  ): Promise<boolean> {
    if (only) return true;
    const { tokens, limit } = await this.window.measure(job.chat.messages, call);
    return tokens >= (threshold ?? limit * defaultShare);
  }
}
