/** How soon asking again can show something new. */
const pollAfterMs = 500;

/** Headers of something that may still be under way: OpenAI's clients ask for it again after that time. */
export function pollAfter({ status }: { status?: unknown }): Record<string, string> {
  const isUnderWay = status === 'in_progress' || status === 'queued';
  return isUnderWay ? { 'openai-poll-after-ms': String(pollAfterMs) } : {};
}
