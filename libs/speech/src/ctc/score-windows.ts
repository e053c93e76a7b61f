import type { LogProbabilities } from './log-probabilities.js';

export interface WindowRules {
  /** Samples that the network hears at once. */
  window: number;
  /** Samples at both ends of a window whose scores are left to its neighbours, which hear more around them. */
  overlap: number;
}

/**
 * Scores of audio of any length: windows that overlap, of which only the middles count, joined to one matrix; the
 * borders lie on whole steps, so that times stay true.
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
