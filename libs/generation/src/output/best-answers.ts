import type { GenerationEvent } from '../generator-interface.js';

/** Holds the events of all answers back, and hands out those of the likeliest ones. */
export class BestAnswers {
  private readonly events: GenerationEvent[][] = [];

  /** @param wanted Answers to hand out. */
  constructor(private readonly wanted: number) {}

  add(event: GenerationEvent): void {
    (this.events[event.choice] ??= []).push(event);
  }

  /**
   * One event per answer, the best first and numbered anew; of equals the one that was begun first.
   * @param scores Of each answer: the mean log probability of its tokens.
   */
  choose(scores: readonly number[]): GenerationEvent[] {
    const ranked = scores.map((_score, choice) => choice).sort((a, b) => scores[b]! - scores[a]! || a - b);
    return ranked.slice(0, this.wanted).map((from, choice) => joined(this.events[from] ?? [], choice));
  }
}

function joined(events: readonly GenerationEvent[], choice: number): GenerationEvent {
  const logprobs = events.flatMap((event) => event.logprobs ?? []);
  return {
    choice,
    text: events.map(({ text }) => text).join(''),
    tokenIds: events.flatMap(({ tokenIds }) => tokenIds),
    ...(logprobs.length > 0 && { logprobs }),
    finishReason: events.at(-1)?.finishReason,
  };
}
