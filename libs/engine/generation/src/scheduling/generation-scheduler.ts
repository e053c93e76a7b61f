import { ClientShares } from '#platform/foundation';
import type { Completion } from '../output/completion.js';
import { DraftGain, type DraftMode } from './draft-gain.js';
import { inFairPass } from './fair-pass.js';
import { GenerationTask, type GenerationModel, type GenerationWork } from './generation-task.js';

/**
 * Paces chunked prefill: after a prefill chunk, completions advance for as long as the chunk took before the next
 * chunk runs. The mean time between two tokens at most doubles, however long the prompt is.
 */
export class PrefillPacer {
  private owedMilliseconds = 0;

  /** True if the next chunk may run. */
  get allowsPrefill(): boolean {
    return this.owedMilliseconds <= 0;
  }

  /** Records the duration of a prefill chunk. */
  notePrefill(milliseconds: number): void {
    this.owedMilliseconds = milliseconds;
  }

  /** Records the duration of a decoding pass. */
  noteDecode(milliseconds: number): void {
    this.owedMilliseconds = Math.max(0, this.owedMilliseconds - milliseconds);
  }
}

/** Slots that other clients have in addition, as a share of those of one client: it never takes all of them. */
const reservedShare = 0.25;

interface ActiveCompletion {
  readonly task: GenerationTask;
  readonly completion: Completion;
}

/**
 * Continuous batching: shares one decoder between requests. Prefill chunks run between the passes that advance
 * every completion, so that a long prompt does not stall the others. Requests wait for a slot and for memory: clients take
 * turns by their tokens, and the requests of a client keep their order. Cancellation takes effect between passes.
 */
export class GenerationScheduler {
  private waiting: GenerationTask[] = [];
  private running: GenerationTask[] = [];
  private working = false;
  /** The number of the latest pass of each completion. */
  private readonly latest = new WeakMap<Completion, number>();
  private passes = 0;
  private readonly pacer = new PrefillPacer();
  /** Tokens of the admitted requests, and of the read prompts. */
  private readonly admitted = new ClientShares();
  private readonly prefilled = new ClientShares();
  /** By the number of completions of a pass. */
  private readonly draftGains = new Map<number, DraftGain>();

  /** @param maxAnswers Maximum number of concurrent completions of one client; further requests wait. */
  constructor(
    private readonly model: GenerationModel,
    private readonly maxAnswers: number,
  ) {}

  /** Number of running and of queued requests. */
  get requests(): { running: number; waiting: number } {
    return { running: this.running.length, waiting: this.waiting.length };
  }

  /** Runs a request; resolves after its last event. Errors: cancelled, invalid_request. */
  run(work: GenerationWork): Promise<void> {
    const task = new GenerationTask(work, this.model);
    this.waiting.push(task);
    if (!this.working) void this.processQueue();
    return task.done;
  }

  private async processQueue(): Promise<void> {
    this.working = true;
    while (this.waiting.length > 0 || this.running.length > 0) {
      this.dropCancelled();
      this.admit();
      const completions = inFairPass(this.activeCompletions(), ({ task }) => task.client, this.latest);
      if (completions.length === 0 || this.pacer.allowsPrefill) await this.prefillOne();
      await this.advanceAll(completions);
    }
    this.working = false;
  }

  private admit(): void {
    for (let task = this.nextWaiting(); task && this.hasRoomFor(task); task = this.nextWaiting()) {
      const admitted = task;
      this.waiting = this.waiting.filter((other) => other !== admitted);
      this.admitted.charge(task.client, task.expectedTokens);
      try {
        task.admit();
        this.running.push(task);
      } catch (error) {
        task.fail(error);
      }
    }
  }

  /** The first request of the client whose turn it is, of those that do not have all their slots. */
  private nextWaiting(): GenerationTask | undefined {
    const candidates = this.waiting.filter(({ client, choices }) => {
      const own = this.slotsOf(client);
      return own === 0 || own + choices <= this.maxAnswers;
    });
    const client = this.admitted.next(new Set(candidates.map((task) => task.client)));
    return this.waiting.find((task) => task.client === client);
  }

  /** A request that exceeds the slots or the memory runs alone. */
  private hasRoomFor({ client, choices, expectedTokens }: GenerationTask): boolean {
    if (this.running.length === 0) return true;
    const [own, taken] = [this.slotsOf(client), this.slotsOf()];
    const slots = this.maxAnswers + Math.ceil(this.maxAnswers * reservedShare);
    const isFree = own + choices <= this.maxAnswers && taken + choices <= slots;
    return isFree && this.model.backend.hasRoomFor(expectedTokens);
  }

  /** Slots that a client, or all clients, have taken. */
  private slotsOf(client?: string): number {
    const tasks = client === undefined ? this.running : this.running.filter((task) => task.client === client);
    return tasks.reduce((sum, { choices }) => sum + choices, 0);
  }

  /**
   * Clients take turns by their tokens, and so do the requests of a client, so that a short prompt does not wait for the
   * whole of a long one.
   */
  private async prefillOne(): Promise<void> {
    const prefilling = this.running.filter(({ isPrefilling }) => isPrefilling);
    const next = this.prefilled.next(new Set(prefilling.map(({ client }) => client)));
    const task = prefilling.find(({ client }) => client === next);
    if (!task) return;
    this.running = [...this.running.filter((other) => other !== task), task];
    const chunk = task.nextChunk();
    this.prefilled.charge(task.client, chunk.tokens.length);
    await this.pass([task], async () => {
      const startedAt = performance.now();
      const logits = await this.model.backend.prefill(chunk);
      this.pacer.notePrefill(performance.now() - startedAt);
      task.acceptChunk(chunk, logits);
    });
  }

  private activeCompletions(): ActiveCompletion[] {
    return this.running.flatMap((task) =>
      task.completions.filter(({ finished }) => !finished).map((completion) => ({ task, completion })),
    );
  }

  private async advanceAll(completions: readonly ActiveCompletion[]): Promise<void> {
    const { maxBatch } = this.model.backend;
    const size = Math.min(maxBatch, completions.length);
    for (let start = 0; start < completions.length; start += size) {
      this.dropCancelled();
      const group = completions.slice(start, start + size).filter(({ task }) => this.running.includes(task));
      if (group.length > 0) await this.advanceGroup(group);
    }
  }

  private async advanceGroup(group: readonly ActiveCompletion[]): Promise<void> {
    const tasks = [...new Set(group.map(({ task }) => task))];
    this.passes += 1;
    for (const { completion } of group) this.latest.set(completion, this.passes);
    await this.pass(tasks, async () => {
      const startedAt = performance.now();
      // Several tokens of one completion widen the pass for all; completions that were too close to call need a
      // narrow one.
      const several = !group.some(({ completion }) => completion.narrowsPass);
      const gain = this.draftGain(group.length);
      const drafts = gain.allowsDrafts;
      const items = group.map(({ completion }) => completion.nextItem(several, drafts));
      const wide = items.some(({ tokens }) => tokens.length > 1);
      const logits = await this.model.backend.decode(items);
      const milliseconds = performance.now() - startedAt;
      this.pacer.noteDecode(milliseconds);
      const before = sampledTokens(group);
      for (const [index, { task, completion }] of group.entries()) {
        this.settle(task, () => task.advance(completion, logits[index]!, wide));
      }
      const mode = draftMode(group, wide);
      if (mode) gain.note(mode, sampledTokens(group) - before, milliseconds);
    });
  }

  private draftGain(completions: number): DraftGain {
    const gain = this.draftGains.get(completions) ?? new DraftGain();
    this.draftGains.set(completions, gain);
    return gain;
  }

  /** An error after the pass ends only the request that caused it. */
  private settle(task: GenerationTask, work: () => void): void {
    if (!this.running.includes(task)) return;
    try {
      work();
    } catch (error) {
      task.fail(error);
      this.running = this.running.filter((other) => other !== task);
    }
  }

  /** An error in a pass ends only the requests that took part in it. */
  private async pass(tasks: readonly GenerationTask[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.running = this.running.filter(({ isFinished }) => !isFinished);
    } catch (error) {
      for (const task of tasks) task.fail(error);
      this.running = this.running.filter((task) => !tasks.includes(task));
    }
  }

  private dropCancelled(): void {
    for (const task of [...this.waiting, ...this.running].filter(isCancelled)) task.cancel();
    this.waiting = this.waiting.filter((task) => !isCancelled(task));
    this.running = this.running.filter((task) => !isCancelled(task));
  }
}

function sampledTokens(group: readonly ActiveCompletion[]): number {
  return group.reduce((sum, { completion }) => sum + completion.tokens, 0);
}

/** Undefined for a pass that says nothing about the gain of drafts: over forced tokens, or over drafts that are always checked. */
function draftMode(group: readonly ActiveCompletion[], wide: boolean): DraftMode | undefined {
  if (group.some(({ completion }) => completion.hasSteadyDrafts)) return undefined;
  if (!wide) return 'plain';
  return group.some(({ completion }) => completion.hasDrafts) ? 'drafts' : undefined;
}

function isCancelled({ work }: GenerationTask): boolean {
  return work.signal.aborted;
}
