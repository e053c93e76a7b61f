import type { LogProbabilities } from './search.js';

/** Sizes of windows, in samples. */
export interface WindowRules {
  /** Samples per run of the network. */
  window: number;
  /** Overlap at both ends of a window; these scores come from the neighboring windows, which have more context. */
  overlap: number;
}

/**
 * Scores audio of any length in overlapping windows and joins the middles of their scores to one matrix. Borders
 * lie on whole steps, so that times stay exact.
 */
export async function scoreWindows(
  samples: Float32Array,
  { window, overlap }: WindowRules,
  run: (samples: Float32Array) => Promise<LogProbabilities>,
): Promise<LogProbabilities> {
  if (samples.length <= window) return run(samples);
  const parts: LogProbabilities[] = [];
  const advance = window - 2 * overlap;
  for (let start = 0; start === 0 || start + 2 * overlap < samples.length; start += advance) {
    const part = samples.subarray(start, start + window);
    const scores = await run(part);
    const stepsIn = (length: number) => Math.round((length * scores.steps) / part.length);
    const first = start === 0 ? 0 : stepsIn(overlap);
    const isLast = start + window >= samples.length;
    parts.push(slice(scores, first, isLast ? scores.steps : stepsIn(window - overlap)));
    if (isLast) break;
  }
  return join(parts);
}

function slice({ values, width }: LogProbabilities, from: number, to: number): LogProbabilities {
  return { values: values.slice(from * width, to * width), steps: Math.max(0, to - from), width };
}

function join(parts: readonly LogProbabilities[]): LogProbabilities {
  const width = parts[0]?.width ?? 0;
  const steps = parts.reduce((sum, part) => sum + part.steps, 0);
  const values = new Float32Array(steps * width);
  let place = 0;
  for (const part of parts) {
    values.set(part.values, place);
    place += part.values.length;
  }
  return { values, steps, width };
}
