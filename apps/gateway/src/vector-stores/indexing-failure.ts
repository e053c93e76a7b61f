import type { MegaNestError } from '#contracts';

/** How often a file is begun before it fails. */
const mostAttempts = 8;
const longestPauseMs = 30_000;

/** OpenAI's `last_error`. */
export interface IndexingFailure {
  code: 'server_error' | 'unsupported_file' | 'invalid_file';
  message: string;
}

/** Milliseconds until it is worth another attempt; undefined where the file or the attempts are at fault. */
export function pauseBeforeRetry(
  { status, retryAfter = 0 }: MegaNestError,
  attempts: number,
): number | undefined {
  const isFiles = status < 500 && status !== 429 && status !== 499;
  if (isFiles || attempts >= mostAttempts) return undefined;
  return Math.max(retryAfter * 1_000, Math.min(longestPauseMs, 250 * 2 ** attempts));
}

/** What is told of a file that cannot be indexed; it is named as its owner knows it. */
export function indexingFailure(
  { code, status, message }: MegaNestError,
  { fileId }: { fileId: string },
): IndexingFailure {
  const told = message.replaceAll(`${fileId}/`, '');
  if (code === 'unsupported_file') return { code, message: told };
  return { code: status < 500 && status !== 429 ? 'invalid_file' : 'server_error', message: told };
}
