import { parseMegaService } from '#platform/dag';
import { describe, expect, it } from 'vitest';
import type { NodeCall } from '../mega-service-request.js';
import { builtInNodes } from './built-in-nodes.js';
import { callWrite } from './write.js';

const yaml = (params: string) => `name: x
description: A test.
question: source
nodes:
  llm: { service: llm.write, params: { ${params} } }`;
const parse = (params: string) => parseMegaService(yaml(params), 'x.yaml', { registry: builtInNodes });
const template = "chat_template: 'To {language}: {question}'";

describe('llm.write', () => {
  it('has a parameter for each name of its template', () => {
    const definition = parse(`${template}, language: English`);
    expect(definition.question).toBe('source');
    expect(Object.keys(definition.nodes.get('llm')!.target.kind.parameters.shape)).toContain('language');
    expect(definition.nodes.get('llm')?.locked).toEqual(new Set(['model', 'chat_template']));
    expect(() => parse(`${template}, other: English`)).toThrow('no such parameter');
    expect(() => parse("chat_template: 'Hello'")).toThrow('must contain {question}');
  });

  it('refuses a model that quotes documents', async () => {
    const call = {
      context: { parameters: { chat_template: '{question}' }, inputs: {} },
      options: {},
      request: { messages: [{ role: 'user', content: 'Hello' }] },
      describeModel: () => Promise.resolve({ id: 'nano-chat', followsInstructions: false }),
    } as unknown as NodeCall;
    await expect(callWrite(call).next()).rejects.toMatchObject({
      code: 'unsupported_parameter',
      param: 'model',
    });
  });
});
