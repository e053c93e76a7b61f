import type { Answer } from './answer.js';
import type { DecoderBackend, ForwardItem } from './decoder-backend.js';
import { GenerationTask, type GenerationModel, type GenerationWork } from './generation-task.js';

interface ActiveAnswer {
  readonly task: GenerationTask;
  readonly answer: Answer;
}

/**
 * Shares one decoder between requests: each round one chunk of one prompt goes in and every answer advances by a
 * token, so that a long prompt never stalls the others. Cancels take effect between passes.
 */
export class GenerationScheduler {
  private waiting: GenerationTask[] = [];
  private running: GenerationTask[] = [];
  private working = false;

  /** @param maxAnswers Answers that are written at the same time; requests beyond that wait in order. */
  constructor(
    private readonly backend: DecoderBackend,
    private readonly model: GenerationModel,
    private readonly maxAnswers: number,
  ) {}

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
      await this.prefillOne();
      await this.advanceAll();
    }
    this.working = false;
  }

  private admit(): void {
    let free = this.maxAnswers - this.running.reduce((sum, { choices }) => sum + choices, 0);
    while (this.waiting.length > 0) {
      const { choices } = this.waiting[0]!;
      // A request with more answers than there are places runs alone.
      if (choices > free && this.running.length > 0) return;
      const task = this.waiting.shift()!;
      task.admit(this.backend.openSequence());
      this.running.push(task);
      free -= choices;
    }
  }

  /** Requests take turns here, so that a short prompt does not wait for the whole of a long one. */
  private async prefillOne(): Promise<void> {
    const task = this.running.find(({ isPrefilling }) => isPrefilling);
    if (!task) return;
    this.running = [...this.running.filter((other) => other !== task), task];
    const chunk = task.nextChunk(this.backend.prefillChunk);
    await this.pass([task], [chunk], ([logits]) => task.acceptChunk(chunk, logits!));
  }

  private async advanceAll(): Promise<void> {
    const active = this.activeAnswers();
    for (let start = 0; start < active.length; start += this.backend.maxBatch) {
      this.dropCancelled();
      const group = active
        .slice(start, start + this.backend.maxBatch)
        .filter(({ task }) => this.running.includes(task));
      if (group.length > 0) await this.advanceGroup(group);
    }
  }

  private activeAnswers(): ActiveAnswer[] {
    return this.running.flatMap((task) =>
      task.answers.filter(({ finished }) => !finished).map((answer) => ({ task, answer })),
    );
  }

  private async advanceGroup(group: readonly ActiveAnswer[]): Promise<void> {
    const items = group.map(({ answer }) => ({
      sequence: answer.sequence,
      tokens: [answer.nextToken],
      logits: 1,
    }));
    const tasks = group.map(({ task }) => task);
    await this.pass(tasks, items, (logits) => {
      group.forEach(({ task, answer }, index) => task.advance(answer, logits[index]!));
    });
  }

  /** A pass that fails ends the requests that took part in it, and no others. */
  private async pass(
    tasks: readonly GenerationTask[],
    items: readonly ForwardItem[],
    use: (logits: Float32Array[]) => void,
  ): Promise<void> {
    try {
      use(await this.backend.forward(items));
      this.running = this.running.filter(({ isFinished }) => !isFinished);
    } catch (error) {
      for (const task of new Set(tasks)) task.fail(error);
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
