import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMegaService } from '#dag';
import { projectRoot } from '#paths';
import { describe, expect, it } from 'vitest';
import { builtInNodes } from './built-in-nodes.js';

const file = 'chatqna-guarded.yaml';

describe('builtInNodes', () => {
  it('let a guarded mega service lock the prompt of its language model, and do not let it stay open', async () => {
    const shipped = await readFile(join(projectRoot, 'megaservices', file), 'utf8');
    const open = shipped.replace(/^ +locked: .*\n/m, '');
    expect(open).not.toBe(shipped);
    const parse = (text: string) => parseMegaService(text, file, { registry: builtInNodes });
    expect(parse(shipped).nodes.get('llm')?.locked).toEqual(new Set(['chat_template']));
    expect(() => parse(open)).toThrow('"guard" does not judge the parameter chat_template');
  });
});
