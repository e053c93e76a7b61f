/** A stretch of audio in samples, the end excluded. */
export interface SampleSpan {
  start: number;
  end: number;
}

export interface SpanRules {
  /** Samples for each decision. */
  frame: number;
  /** Samples in all. */
  length: number;
  /** Shorter pauses do not end a stretch, in samples. */
  leastPause: number;
  /** Shorter stretches are no speech, in samples. */
  leastSpeech: number;
  /** Put before and behind each stretch, in samples. */
  margin: number;
}

/** Stretches of speech from a decision for each frame; margins never overlap. */
export function spansFromFrames(isSpeech: readonly boolean[], rules: SpanRules): SampleSpan[] {
  const { frame, length, leastPause, leastSpeech, margin } = rules;
  const spans: SampleSpan[] = [];
  for (const [index, speech] of isSpeech.entries()) {
    if (!speech) continue;
    const end = Math.min(length, (index + 1) * frame);
    const last = spans.at(-1);
    if (last && index * frame - last.end < leastPause) last.end = end;
    else spans.push({ start: index * frame, end });
  }
  const kept = spans.filter(({ start, end }) => end - start >= leastSpeech);
  return kept.map(({ start, end }, index) => ({
    start: Math.max(start - margin, middle(kept[index - 1], start) ?? 0),
    end: Math.min(end + margin, middle({ start, end }, kept[index + 1]?.start) ?? length),
  }));
}

function middle(before: SampleSpan | undefined, after: number | undefined): number | undefined {
  return before && after !== undefined ? Math.ceil((before.end + after) / 2) : undefined;
}

/** Joins neighbours into pieces of at most `most` samples whose inner pauses are shorter than `pause` samples. */
export function joinSpans(spans: readonly SampleSpan[], most: number, pause: number): SampleSpan[] {
  const joined: SampleSpan[] = [];
  for (const { start, end } of spans) {
    const last = joined.at(-1);
    if (last && end - last.start <= most && start - last.end < pause) last.end = end;
    else joined.push({ start, end });
  }
  return joined;
}
