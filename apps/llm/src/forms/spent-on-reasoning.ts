import { invalidField, MegaNestError } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import { UsageSum } from '../writing/text-writer.js';

interface ReasoningOptions {
  /** Asks once more without reasoning; absent if the model cannot be asked so. */
  askAgain?: (() => Promise<AsyncIterable<GenerationEvent>>) | undefined;
  /** The caller's limit of tokens. */
  limit?: number | undefined;
}

/**
 * Passes answers on. If the model only reasoned, mostly because the reasoning used up the limit of tokens, it is asked
 * once more without reasoning. Errors: invalid_request if the limit is the caller's, otherwise bad_upstream, where the
 * answer is still without a text.
 */
export async function* answerAfterReasoning(
  events: AsyncIterable<GenerationEvent>,
  { askAgain, limit }: ReasoningOptions,
): AsyncGenerator<GenerationEvent, void, void> {
  const usage = new UsageSum();
  const first = yield* untilReasonedOnly(events, usage);
  if (first.length === 0) return;
  const second = askAgain ? yield* untilReasonedOnly(await askAgain(), usage) : first;
  if (second.length > 0) throw reasonedOnly(limit, second.at(-1)?.finishReason === 'length');
}

/** Passes events on. Returns the ends of the answers, which are held back, if no answer has more than reasoning. */
async function* untilReasonedOnly(
  events: AsyncIterable<GenerationEvent>,
  usage: UsageSum,
): AsyncGenerator<GenerationEvent, GenerationEvent[], void> {
  const answers = new Map<number, { says: boolean; reasoned: boolean }>();
  let held: GenerationEvent[] = [];
  for await (const given of events) {
    const event = given.usage ? { ...given, usage: usage.add(given.usage) } : given;
    const answer = answers.get(event.choice) ?? { says: false, reasoned: false };
    answers.set(event.choice, answer);
    answer.says ||= event.text.trim() !== '' || event.toolCalls !== undefined || event.refusal === true;
    answer.reasoned ||= event.reasoning !== undefined || (event.usage?.reasoningTokens ?? 0) > 0;
    const { finishReason } = event;
    const isOpen = finishReason === undefined || answer.says || !answer.reasoned;
    if (isOpen || finishReason === 'content_filter') {
      yield* held;
      held = [];
      yield event;
    } else held.push(event);
  }
  if (held.length === answers.size) return held;
  yield* held;
  return [];
}

function reasonedOnly(limit: number | undefined, isCut: boolean): MegaNestError {
  const advice = 'turn its reasoning off, e.g. with reasoning_effort none';
  if (!isCut) {
    const detail = `its model wrote only reasoning and no answer; ${advice}`;
    return new MegaNestError('bad_upstream', { service: 'llm', detail, final: true });
  }
  const detail = 'used all tokens of the answer for its reasoning and wrote no text';
  if (limit !== undefined)
    return invalidField('max_tokens', `${limit}: the model ${detail}; raise it, or ${advice}`);
  return new MegaNestError('bad_upstream', {
    service: 'llm',
    detail: `its model ${detail}; set a larger max_tokens, or ${advice}`,
    final: true,
  });
}
