import { MegaNestError, type TokenUsage } from '#platform/contracts';
import {
  compactionItem,
  isUserMessage,
  newItemId,
  openCalls,
  safeCuts,
  Sealer,
  toChatMessages,
  type Compaction,
  type MachineStep,
  type StoredItem,
} from '#api/responses';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import type { OpenedModel } from '../../chat/opened-model.js';
import { ContextWindow } from '../context/context-window.js';
import type { PlannedCompaction, ResponsePlan } from '../context/response-plan.js';
import { Summarizer } from './summarizer.js';

export interface CompactionRequest {
  owner: string;
  /** The whole conversation, with its sealed items opened. */
  items: readonly StoredItem[];
  instructions?: string;
  /** Keeps the user's last message and everything after it word for word, whatever its length. */
  keepLastTurn?: boolean;
}

export interface CompactionResult {
  item: Compaction;
  /** The content of the compaction item: the items from which the conversation continues. */
  items: StoredItem[];
  /** The user's messages among them: clients show them next to the item. */
  userMessages: StoredItem[];
  /** Token usage of the summary; zeros where no summary was needed. */
  usage: TokenUsage;
}

/** Limit for the characters of a compaction, because it is opened again in every turn. */
const greatestContext = 4 * 1024 * 1024;

/** Shares of the context window: the turns that are kept word for word, and the summary of the rest. */
const recentShare = 1 / 4;
const summaryShare = 1 / 8;
const maxSummaryTokens = 1_024;
/** Share of the window for a piece to summarize; the rest is for the task, the notes so far and the new notes. */
const pieceShare = 1 / 2;

const introduction = 'Notes on the conversation up to here, written by a language model:';

/** Share of the window at which the server compacts a context where the caller gives no threshold. */
const dueShare = 4 / 5;

/**
 * Compacts a conversation. Instructions are kept. The latest turns are kept word for word as far as they fit into a
 * quarter of the window, and the model writes notes on the turns before them. A short conversation loses nothing.
 */
@Injectable()
export class Compactor {
  constructor(
    @Inject(ContextWindow) private readonly window: ContextWindow,
    @Inject(Summarizer) private readonly summarizer: Summarizer,
    @Inject(Sealer) private readonly sealer: Sealer,
  ) {}

  /** Errors: the errors of the language model; unsupported_parameter for content that it cannot read. */
  async compact(request: CompactionRequest, model: OpenedModel, call: HttpCall): Promise<CompactionResult> {
    const { items, owner } = request;
    const kept = items.filter(isInstruction);
    const said = items.filter((item) => !isInstruction(item));
    const { limit } = await this.#measure(said, call);
    const lastTurn = request.keepLastTurn ? said.findLastIndex(isUserMessage) : -1;
    const fitting = await this.#cut(said, Math.floor(limit * recentShare), call);
    const cut = lastTurn === -1 ? fitting : Math.min(fitting, lastTurn);
    const [before, recent] = [said.slice(0, cut), said.slice(cut)];
    const summary = await this.#summarize(before, request, model, call);
    const notes = summary ? [notesItem(summary.text)] : [];
    const context = [...kept, ...notes, ...openCalls(before), ...recent];
    const held = { items: context, covers: items.map(({ id }) => id) };
    const text = JSON.stringify(held);
    if (text.length > greatestContext)
      throw new MegaNestError('payload_too_large', {
        what: 'The compacted conversation, with its unshortened instructions,',
        limit: `${greatestContext} characters`,
        param: 'input',
      });
    const sealed = this.sealer.seal({ kind: 'compaction', owner }, text);
    return {
      item: compactionItem(sealed),
      items: context,
      userMessages: recent.filter(isUserMessage),
      usage: summary?.usage ?? { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    };
  }

  /**
   * Compacts the context of a response before the generation, where the request asks for it. Shows the compaction as an
   * item of the response. Returns the plan with the shorter context, or undefined where the request asks only for the
   * compaction. Errors: the errors of {@link compact}.
   */
  async *compactPlan(
    plan: ResponsePlan,
    model: OpenedModel,
    call: HttpCall,
  ): AsyncGenerator<MachineStep, ResponsePlan | undefined, void> {
    const { compaction, chat } = plan.job;
    if (!compaction || !(await this.#isDue(compaction, plan, call))) return plan;
    const { items, only } = compaction;
    const instructions = compaction.instructions ?? undefined;
    const request = { owner: plan.owner, items, instructions, keepLastTurn: !only };
    const { item, items: left, usage } = await this.compact(request, model, call);
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
    return tokens >= (threshold ?? limit * dueShare);
  }

  /** The first cut after which the remaining items fit into a number of tokens, found by bisection. */
  async #cut(said: readonly StoredItem[], room: number, call: HttpCall): Promise<number> {
    const cuts = safeCuts(said);
    let [low, high] = [0, cuts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { tokens } = await this.#measure(said.slice(cuts[middle]), call);
      if (tokens <= room) high = middle;
      else low = middle + 1;
    }
    const first = cuts[low] ?? said.length;
    // Cut before a user's message even where half a turn more would fit: templates expect the user's message first.
    return cuts.find((cut) => cut >= first && isUserMessageAt(said, cut)) ?? first;
  }

  async #summarize(
    before: readonly StoredItem[],
    { instructions }: CompactionRequest,
    model: OpenedModel,
    call: HttpCall,
  ) {
    const { messages } = toChatMessages(before, { images: 'take' });
    if (messages.length === 0) return undefined;
    const { tokens, limit } = await this.#measure(before, call);
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    const perToken = characters / Math.max(1, tokens);
    const pieceLength = Math.max(100, Math.floor(limit * pieceShare * perToken));
    const maxTokens = Math.min(maxSummaryTokens, Math.max(16, Math.floor(limit * summaryShare)));
    const pieces = { messages, maxTokens, pieceLength, instructions };
    return this.summarizer.summarize({ ...pieces, model: model.languageModelAlone }, call);
  }

  async #measure(items: readonly StoredItem[], call: HttpCall): Promise<{ tokens: number; limit: number }> {
    const { messages } = toChatMessages(items, { images: 'take' });
    return this.window.measure(messages, call);
  }
}

function isUserMessageAt(items: readonly StoredItem[], index: number): boolean {
  const item = items[index];
  return item !== undefined && isUserMessage(item);
}

function isInstruction(item: StoredItem): boolean {
  const given = item['role'] === 'system' || item['role'] === 'developer';
  return item.type === 'message' && given && item['notes'] !== true;
}

function notesItem(text: string): StoredItem {
  return {
    type: 'message',
    id: newItemId('message'),
    status: 'completed',
    role: 'developer',
    // The next compaction rewrites notes and keeps instructions.
    notes: true,
    content: [{ type: 'input_text', text: `${introduction}\n${text}` }],
  };
}
