import { z } from 'zod';

/** Names that a server sets itself when it renders a chat template, and options of the libraries that render. */
const reserved: ReadonlySet<string> = new Set([
  'add_generation_prompt',
  'chat_template',
  'continue_final_message',
  'conversation',
  'documents',
  'max_length',
  'messages',
  'padding',
  'raise_exception',
  'return_dict',
  'return_tensor',
  'return_tensors',
  'tokenize',
  'tokenizer_kwargs',
  'tools',
  'truncation',
]);

/** Maximum variables of a request, and maximum characters of a value. */
const maxVariables = 32;
const maxValueLength = 1024;

const value = z.union(
  [z.string().max(maxValueLength), z.number(), z.boolean(), z.null()],
  `must be a number, a boolean, null or a string of at most ${maxValueLength} characters`,
);

/**
 * Variables of a caller for the chat template of a model. They are scalars without the names that the server sets: a
 * caller's own template would run as a program in the service.
 */
export const templateVariablesSchema = z.record(z.string(), value).superRefine((variables, context) => {
  const names = Object.keys(variables);
  const refuse = (message: string, path: string[] = []) =>
    context.addIssue({ code: 'custom', path, message });
  if (names.length > maxVariables) refuse(`must have at most ${maxVariables} entries`);
  for (const name of names) {
    if (!/^[A-Za-z_]\w{0,63}$/.test(name)) refuse('is not a name of a template variable', [name]);
    else if (isReserved(name)) refuse('is set by the server', [name]);
  }
});

/** Variables of a chat template by their names. */
export type TemplateVariables = z.infer<typeof templateVariablesSchema>;

/** Tokens of the model are variables of its template too, e.g. `bos_token`. */
function isReserved(name: string): boolean {
  return reserved.has(name) || name.endsWith('_token') || name.startsWith('__');
}
