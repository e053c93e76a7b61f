import type { MegaNestError } from '#contracts';

/** One event without a name, as chat completions stream them. */
export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The last frame of a chat completions stream. */
export const doneFrame = 'data: [DONE]\n\n';

/** What a stream that failed after its first frame says; clients of OpenAI's API look for `error` in the data. */
export function errorFrame({ message, type, param, code }: MegaNestError): string {
  return dataFrame({ error: { message, type, param, code } });
}

/** How soon asking again can show something new. */
const pollAfterMs = 500;

/** Headers of something that may still be under way: OpenAI's clients ask for it again after that time. */
export function pollAfter({ status }: { status?: unknown }): Record<string, string> {
  const isUnderWay = status === 'in_progress' || status === 'queued';
  return isUnderWay ? { 'openai-poll-after-ms': String(pollAfterMs) } : {};
}
