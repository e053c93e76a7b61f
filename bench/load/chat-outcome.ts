/** How a streamed chat ended, read off its whole body. */
export type ChatOutcome = 'answered' | 'lost' | 'broken';

/**
 * `answered`: text and the end marker. `broken`: an error after text had been streamed. `lost`: no text at all, or a
 * stream that ends without saying why.
 */
export function chatOutcome(body: string): ChatOutcome {
  const hasText = /"content":"[^"]/.test(body);
  const failed = /"error":\{/.test(body);
  if (!hasText) return 'lost';
  if (failed) return 'broken';
  return body.trimEnd().endsWith('data: [DONE]') ? 'answered' : 'lost';
}
