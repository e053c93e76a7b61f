import { type GenerationChunk, invalidField } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { chatCompletionRequestSchema } from './chat-request.js';
import { namingFormParams } from './naming-params.js';

async function* failing(param: string): AsyncGenerator<GenerationChunk> {
  await Promise.resolve();
  yield* [];
  throw invalidField(param, 'There is no type "strin".');
}

async function renamed(param: string, field: string): Promise<unknown> {
  const chunks = namingFormParams(failing(param), field);
  return chunks.next().catch((error: unknown) => error);
}

describe('namingFormParams', () => {
  const schema = { type: 'object' };
  it.each([
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
      'constraint.schema.properties.a.type',
      'response_format.json_schema.schema.properties.a.type',
    ],
    [{ guided_json: schema }, 'constraint.schema.properties.a.type', 'guided_json.properties.a.type'],
    [{ structured_outputs: { regex: '(a' } }, 'constraint.pattern', 'structured_outputs.regex'],
    [{ guided_grammar: 'root ::=' }, 'constraint.grammar', 'guided_grammar'],
    [{ guided_choice: ['a'] }, 'constraint', 'guided_choice'],
  ])('names the field of %j in an error about %s', async (fields, param, named) => {
    const { formField = '' } = chatCompletionRequestSchema.parse({ messages: 'x', ...fields });
    const message = `${named}: There is no type "strin".`;
    expect(await renamed(param, formField)).toMatchObject({ param: named, message });
  });

  it('leaves other errors as they are', async () => {
    expect(await renamed('messages', 'guided_json')).toMatchObject({ param: 'messages' });
  });
});
