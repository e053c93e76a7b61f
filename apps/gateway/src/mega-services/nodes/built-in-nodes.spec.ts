import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listParameters, parseMegaService, pickParameters } from '#platform/dag';
import { projectRoot } from '#platform/foundation';
import { describe, expect, it } from 'vitest';
import { languageModelOf } from '../../models/model-catalog.js';
import { builtInNodes } from './built-in-nodes.js';

const file = 'chatqna-guarded.yaml';

describe('builtInNodes', () => {
  it('let a guarded mega service lock the prompt of its language model, and do not let it stay open', async () => {
    const shipped = await readFile(join(projectRoot, 'megaservices', file), 'utf8');
    const open = shipped.replace(/^ +locked: .*\n/m, '');
    expect(open).not.toBe(shipped);
    const parse = (text: string) => parseMegaService(text, file, { registry: builtInNodes });
    expect(parse(shipped).nodes.get('llm')?.locked).toEqual(new Set(['chat_template', 'model']));
    expect(() => parse(open)).toThrow('"guard" does not judge the parameter chat_template');
  });

  it('know the summary by its name of version 0.1', () => {
    const { service: now, ...summary } = builtInNodes.get('llm.summarize')!;
    const { service: before, ...same } = builtInNodes.get('llm.summarise')!;
    expect([now, before]).toEqual(['llm.summarize', 'llm.summarise']);
    expect(same).toEqual(summary);
  });

  it('take the language model of their node from the file, and not from a request', () => {
    const text = `name: big
description: A test.
nodes:
  llm: { service: llm, params: { model: big-model } }`;
    const big = parseMegaService(text, 'big.yaml', { registry: builtInNodes });
    expect(pickParameters(big, { model: 'other', 'llm.model': 'other', max_tokens: 5 })).toEqual({
      max_tokens: 5,
    });
    expect(listParameters(big).map(({ name }) => name)).not.toContain('model');
    expect(languageModelOf(big)).toBe('big-model');
    const outer = `name: outer
description: A test.
nodes:
  inner: { service: big, params: { model: other } }`;
    const options = { registry: builtInNodes, megaService: () => big };
    expect(() => parseMegaService(outer, 'outer.yaml', options)).toThrow(/model/);
    const plain = outer.replace(', params: { model: other }', '');
    expect(languageModelOf(parseMegaService(plain, 'outer.yaml', options))).toBe('big-model');
  });
});
