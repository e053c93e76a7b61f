import { MegaNestError } from '#contracts';

/** Fields that change what the answer means and that this server cannot honour, each with the reason. */
const refused: Readonly<Record<string, string>> = {
  prompt: 'prompt templates are not stored here; send instructions and input',
  moderation: 'there is no moderation model',
  modalities: 'answers are text',
  audio: 'answers are text',
  best_of: 'a response has one answer',
  functions: 'use tools',
  function_call: 'use tool_choice',
  response_format: 'use text.format',
  messages: 'use input',
};

/** Errors: unsupported_parameter that names the field and says what to do. */
export function assertNothingRefused(body: Readonly<Record<string, unknown>>): void {
  for (const [name, reason] of Object.entries(refused)) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    throw new MegaNestError('unsupported_parameter', { detail: `${name}: ${reason}`, param: name });
  }
  const { n } = body;
  if (typeof n === 'number' && n > 1)
    throw new MegaNestError('unsupported_parameter', { detail: 'n: a response has one answer', param: 'n' });
}
