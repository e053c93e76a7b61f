import type { Answer } from '../output/answer.js';
import { GenerationTask, type GenerationModel, type GenerationWork } from './generation-task.js';
import { PrefillPacer } from './prefill-pacer.js';

interface ActiveAnswer {
  readonly task: GenerationTask;
  readonly answer: Answer;
}

/**
 * Shares one decoder between requests: pieces of prompts go in between the passes that advance every answer, so that a
 * long prompt never stalls the others. Requests wait in order for a place and for memory. Cancels take effect between
 * passes.
 */
export class GenerationScheduler {
  private waiting: GenerationTask[] = [];
  private running: GenerationTask[] = [];
  private working = false;
  private readonly pacer = new PrefillPacer();

  /** @param maxAnswers Answers that are written at the same time; requests beyond that wait in order. */
  constructor(
    private readonly model: GenerationModel,
    private readonly maxAnswers: number,
  ) {}

  /** Requests that have a place, and requests that wait for one. */
  get requests(): { running: number; waiting: number } {
    return { running: this.running.length, waiting: this.waiting.length };
  }

  /** Resolves after the last event of the request. Errors: cancelled. */
  run(work: GenerationWork): Promise<void> {
    const task = new GenerationTask(work, this.model);
    this.waiting.push(task);
    if (!this.working) void this.workOff();
    return task.done;
  }

  private async workOff(): Promise<void> {
    this.working = true;
    while (this.waiting.length > 0 || this.running.length > 0) {
      this.dropCancelled();
      this.admit();
      const answers = this.activeAnswers();
      if (answers.length === 0 || this.pacer.allowsPrefill) await this.prefillOne();
      await this.advanceAll(answers);
    }
    this.working = false;
  }

  private admit(): void {
    while (this.waiting.length > 0 && this.hasPlaceFor(this.waiting[0]!)) {
      const task = this.waiting.shift()!;
      try {
        task.admit();
        this.running.push(task);
      } catch (error) {
        task.fail(error);
      }
    }
  }

  /** A request that is larger than all the places or the memory runs alone. */
  private hasPlaceFor({ choices, expectedTokens }: GenerationTask): boolean {
    if (this.running.length === 0) return true;
    const taken = this.running.reduce((sum, task) => sum + task.choices, 0);
    return taken + choices <= this.maxAnswers && this.model.backend.hasRoomFor(expectedTokens);
  }

  /** Requests take turns here, so that a short prompt does not wait for the whole of a long one. */
  private async prefillOne(): Promise<void> {
    const task = this.running.find(({ isPrefilling }) => isPrefilling);
    if (!task) return;
    this.running = [...this.running.filter((other) => other !== task), task];
    const chunk = task.nextChunk();
    await this.pass([task], async () => {
      const startedAt = performance.now();
      const logits = await this.model.backend.prefill(chunk);
      this.pacer.notePrefill(performance.now() - startedAt);
      task.acceptChunk(chunk, logits);
    });
  }

  private activeAnswers(): ActiveAnswer[] {
    return this.running.flatMap((task) =>
      task.answers.filter(({ finished }) => !finished).map((answer) => ({ task, answer })),
    );
  }

  private async advanceAll(answers: readonly ActiveAnswer[]): Promise<void> {
    const { maxBatch } = this.model.backend;
    const size = Math.min(maxBatch, answers.length);
    for (let start = 0; start < answers.length; start += size) {
      this.dropCancelled();
      const group = answers.slice(start, start + size).filter(({ task }) => this.running.includes(task));
      if (group.length > 0) await this.advanceGroup(group);
    }
  }

  private async advanceGroup(group: readonly ActiveAnswer[]): Promise<void> {
    const tasks = [...new Set(group.map(({ task }) => task))];
    await this.pass(tasks, async () => {
      const startedAt = performance.now();
      // Several tokens of one answer make the pass wider for all, which those that were too close to call cannot use.
      const several = !group.some(({ answer }) => answer.needsPlainPass);
      const items = group.map(({ answer }) => answer.nextItem(several));
      const wide = items.some(({ tokens }) => tokens.length > 1);
      const logits = await this.model.backend.decode(items);
      this.pacer.noteDecode(performance.now() - startedAt);
      for (const [index, { task, answer }] of group.entries()) {
        this.settle(task, () => task.advance(answer, logits[index]!, wide));
      }
    });
  }

  /** What fails in one request behind the pass ends that request only. */
  private settle(task: GenerationTask, work: () => void): void {
    if (!this.running.includes(task)) return;
    try {
      work();
    } catch (error) {
      task.fail(error);
      this.running = this.running.filter((other) => other !== task);
    }
  }

  /** A pass that fails ends the requests that took part in it, and no others. */
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

function isCancelled({ work }: GenerationTask): boolean {
  return work.signal.aborted;
}
