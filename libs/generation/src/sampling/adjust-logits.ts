import type { SamplingSettings } from './sampling-settings.js';

/** What was said so far: how often each token was generated, and which tokens the prompt holds. */
export interface TokenHistory {
  readonly generated: ReadonlyMap<number, number>;
  readonly prompt: ReadonlySet<number>;
}

/**
 * Applies bias and penalties, in place. The repetition penalty counts prompt and answer, frequency and presence the
 * answer only, as OpenAI and vLLM define them.
 */
export function adjustLogits(logits: Float32Array, settings: SamplingSettings, history: TokenHistory): void {
  for (const [id, bias] of settings.logitBias) logits[id]! += bias;
  const { repetitionPenalty, frequencyPenalty, presencePenalty } = settings;
  if (repetitionPenalty !== 1) {
    for (const id of new Set([...history.prompt, ...history.generated.keys()])) {
      const logit = logits[id]!;
      logits[id] = logit > 0 ? logit / repetitionPenalty : logit * repetitionPenalty;
    }
  }
  if (frequencyPenalty === 0 && presencePenalty === 0) return;
  for (const [id, times] of history.generated) logits[id]! -= frequencyPenalty * times + presencePenalty;
}

/** True when {@link adjustLogits} would change something. */
export function adjustsLogits(settings: SamplingSettings): boolean {
  return (
    settings.logitBias.size > 0 ||
    settings.repetitionPenalty !== 1 ||
    settings.frequencyPenalty !== 0 ||
    settings.presencePenalty !== 0
  );
}
