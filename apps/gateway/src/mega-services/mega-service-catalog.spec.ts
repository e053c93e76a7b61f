import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryDirectory } from '#platform/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MegaServiceCatalog } from './mega-service-catalog.js';
import { builtInNodes } from './nodes/built-in-nodes.js';

const valid = 'name: chatqna\ndescription: A test.\nnodes:\n  llm: { service: llm }\n';

let folder: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let catalog: MegaServiceCatalog | undefined;

beforeEach(async () => {
  folder = await createTemporaryDirectory();
});

afterEach(async () => {
  catalog?.onApplicationShutdown();
  catalog = undefined;
  await folder.remove();
});

async function open(files: Record<string, string>): Promise<MegaServiceCatalog> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  const environment = { MEGASERVICES_DIR: folder.path, DEFAULT_MEGASERVICE: 'chatqna' };
  const announced = { registry: builtInNodes, look: () => Promise.resolve(), follow: () => undefined };
  catalog = await MegaServiceCatalog.open(
    environment as Parameters<typeof MegaServiceCatalog.open>[0],
    announced as unknown as Parameters<typeof MegaServiceCatalog.open>[1],
  );
  return catalog;
}

describe('MegaServiceCatalog.open', () => {
  it('serves the valid files and names those that are not', async () => {
    const opened = await open({ 'chatqna.yaml': valid, 'broken.yaml': '*x', 'list.yaml': '[1, 2]' });
    expect(opened.hasDefault()).toBe(true);
    expect(opened.list().map(({ name }) => name)).toEqual(['chatqna']);
    expect(opened.invalidFiles()).toEqual([
      expect.stringContaining('broken.yaml: Unresolved alias'),
      expect.stringContaining('list.yaml'),
    ]);
  });

  it('opens without its default mega service if that file is not valid', async () => {
    const opened = await open({ 'chatqna.yaml': 'name: [' });
    expect(opened.hasDefault()).toBe(false);
    expect(opened.invalidFiles()).toEqual([expect.stringContaining('chatqna.yaml')]);
    expect(() => opened.default()).toThrow('chatqna');
  });

  it('refuses a default mega service that no file defines', async () => {
    await expect(open({ 'other.yaml': valid.replace('chatqna', 'other') })).rejects.toThrow(
      'DEFAULT_MEGASERVICE: there is no mega service "chatqna"',
    );
  });
});
