import type { MegaNestError } from '#platform/contracts';

/** An event without a name, as in streams of chat completions. */
export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The last frame of a chat completions stream. */
export const doneFrame = 'data: [DONE]\n\n';

/** The frame for a failure after the first frame; clients of OpenAI's API look for `error` in the data. */
export function errorFrame({ message, type, param, code }: MegaNestError): string {
  return dataFrame({ error: { message, type, param, code } });
}

/** Milliseconds after which a client polls again. */
const pollAfterMs = 500;

/** Headers of an object that may still be in progress: OpenAI's clients poll it again after that time. */
export function pollAfter({ status }: { status?: unknown }): Record<string, string> {
  const isUnderWay = status === 'in_progress' || status === 'queued';
  return isUnderWay ? { 'openai-poll-after-ms': String(pollAfterMs) } : {};
}
