import { MegaNestError, type OutputConstraint } from '#contracts';
import type { ChatCompletionRequest } from '#openai-api';

/**
 * A mega service whose model calls no tools, or has other nodes behind it, answers in sentences.
 * Errors: unsupported_parameter that says so.
 */
export function assertPlainAnswer(
  name: string,
  { tools, toolChoice, legacyFunctions }: ChatCompletionRequest,
  constraint: OutputConstraint | undefined,
): void {
  const advice = `the mega service ${name} answers from its documents; ask the language model itself`;
  if (tools && toolChoice?.mode !== 'none')
    throw unsupported(legacyFunctions ? 'functions' : 'tools', advice);
  if (constraint) throw unsupported('response_format', advice);
}

function unsupported(param: string, advice: string): MegaNestError {
  return new MegaNestError('unsupported_parameter', { detail: `${param}: ${advice}`, param });
}
