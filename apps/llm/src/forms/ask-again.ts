import { MegaNestError, type ChatMessage, type TokenUsage } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import { UsageSum } from '../writing/text-writer.js';

/**
 * Asks an engine a second time where its answer has the wrong form, if no part of the first answer was passed on. With
 * `whole` an answer is passed on after all of it was checked; until then empty events show the progress. The usage
 * covers both answers. Errors: bad_upstream where the second answer is wrong, too, or a part of the first one was
 * passed on.
 */
export async function* askAgain(
  ask: (correction?: ChatMessage) => AsyncIterable<GenerationEvent>,
  whole: boolean,
): AsyncGenerator<GenerationEvent, void, void> {
  const usage = new UsageSum();
  let correction: ChatMessage | undefined;
  for (;;) {
    const held: GenerationEvent[] = [];
    let isPassedOn = false;
    try {
      for await (const event of ask(correction)) {
        const counted = event.usage ? { ...event, usage: usage.add(event.usage) } : event;
        if (whole) held.push(counted);
        else isPassedOn = true;
        yield whole ? { choice: event.choice, text: '', tokenIds: [] } : counted;
      }
      yield* held;
      return;
    } catch (error) {
      if (!(error instanceof BrokenFormError)) throw error;
      const detail = `its engine ${error.reason}`;
      if (isPassedOn || correction)
        throw new MegaNestError('bad_upstream', { service: 'llm', detail, final: true });
      if (error.usage) usage.add(error.usage);
      correction = correctionOf(error);
    }
  }
}

export function correctionOf({ reason }: { reason: string; usage?: TokenUsage }): ChatMessage {
  const content = `Your last answer ${reason}. Answer again, in the form that was asked for.`;
  return { role: 'user', content };
}

/** An answer of an engine does not have the requested form. */
export class BrokenFormError extends Error {
  override readonly name = 'BrokenFormError';

  constructor(
    /** The mistake of the engine: "called fly, which is not among the tools". */
    readonly reason: string,
    /** Token usage of the answer, where the engine reported it. */
    readonly usage?: TokenUsage,
  ) {
    super(reason);
  }
}
