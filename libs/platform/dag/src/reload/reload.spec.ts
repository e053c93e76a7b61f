import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registry, runWith } from '../dag.fixture.js';
import type { MegaServiceCatalog } from './catalog.js';
import { loadMegaServices, watchMegaServices, type MegaServiceWatcher } from './watch.js';

let directory: string;
let watcher: MegaServiceWatcher | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'megaservices-'));
});

afterEach(async () => {
  watcher?.close();
  watcher = undefined;
  await rm(directory, { recursive: true, force: true });
});

function yamlOf(name: string, nodes: string, more = ''): string {
  return `name: ${name}\ndescription: A test.\n${more}\nnodes:\n  a: ${nodes}\n`;
}

const step = '{ service: step }';

async function write(file: string, text: string): Promise<void> {
  await writeFile(join(directory, file), text);
}

function errorsOf({ errors }: MegaServiceCatalog): Record<string, string> {
  return Object.fromEntries([...errors].map(([file, error]) => [file, error.message]));
}

describe('loadMegaServices', () => {
  it('reads every YAML file and says of each broken one why', async () => {
    await write('a.yaml', yamlOf('first', step));
    await write('b.yml', yamlOf('second', step));
    await write('c.yaml', yamlOf('third', '{ service: oracle }'));
    await mkdir(join(directory, 'd.yaml'));
    await write('notes.txt', 'no mega service');
    const catalog = await loadMegaServices(directory, registry);
    expect([...catalog.definitions.keys()]).toEqual(['first', 'second']);
    expect(errorsOf(catalog)).toEqual({
      'c.yaml': expect.stringContaining('c.yaml: node "a": service: unknown service "oracle"') as string,
      'd.yaml': expect.stringContaining('d.yaml: Error: EISDIR') as string,
    });
  });

  it('refuses a second file of one name or one path', async () => {
    await write('a.yaml', yamlOf('first', step, 'path: /v1/a'));
    await write('b.yaml', yamlOf('first', step));
    await write('c.yaml', yamlOf('second', step, 'path: /v1/a'));
    const catalog = await loadMegaServices(directory, registry);
    expect(errorsOf(catalog)).toEqual({
      'b.yaml': 'b.yaml: name: "first" is taken by a.yaml',
      'c.yaml': 'c.yaml: path: "/v1/a" is taken by a.yaml',
    });
  });

  it('resolves mega services that name each other, whatever the order of the files', async () => {
    await write('a.yaml', yamlOf('outer', '{ service: inner }'));
    await write('b.yaml', yamlOf('inner', step));
    const { definitions } = await loadMegaServices(directory, registry);
    expect(definitions.get('outer')?.nodes.get('a')?.target.megaService).toBe(definitions.get('inner'));
  });

  it('lets a mega service have the name of a service, which then means the service', async () => {
    await write('embedding.yaml', yamlOf('embedding', '{ service: embedding }'));
    const { definitions } = await loadMegaServices(directory, registry);
    expect(definitions.get('embedding')?.nodes.get('a')?.target.megaService).toBeUndefined();
  });

  it('refuses mega services that contain each other', async () => {
    await write('a.yaml', yamlOf('one', '{ service: two }'));
    await write('b.yaml', yamlOf('two', '{ service: one }'));
    const catalog = await loadMegaServices(directory, registry);
    expect(catalog.definitions.size).toBe(0);
    expect(errorsOf(catalog)).toEqual({
      'a.yaml': 'a.yaml: node "a": service: mega service "two" is not valid',
      'b.yaml': 'b.yaml: node "a": service: mega services contain each other: one → two → one',
    });
  });

  it('rejects for a directory that is not there', async () => {
    await expect(loadMegaServices(join(directory, 'absent'), registry)).rejects.toThrow('ENOENT');
  });
});

/** Waits for the catalog that a condition holds for. */
class Changes {
  private waiting?: { wanted: (catalog: MegaServiceCatalog) => boolean; resolve: () => void };

  readonly onChange = (catalog: MegaServiceCatalog): void => {
    if (this.waiting?.wanted(catalog)) this.waiting.resolve();
  };

  until(wanted: (catalog: MegaServiceCatalog) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.waiting = { wanted, resolve };
    });
  }
}

describe('watchMegaServices', () => {
  it('takes over a changed, a new and a removed file by itself', async () => {
    const changes = new Changes();
    await write('a.yaml', yamlOf('first', step));
    watcher = await watchMegaServices({ directory, registry, onChange: changes.onChange, quietMs: 5 });
    const added = changes.until(({ definitions }) => definitions.has('second'));
    await write('b.yaml', yamlOf('second', step));
    await added;
    const changed = changes.until(({ definitions }) => definitions.get('second')?.path === '/v1/second');
    await write('b.tmp', yamlOf('second', step, 'path: /v1/second'));
    await rename(join(directory, 'b.tmp'), join(directory, 'b.yaml'));
    await changed;
    const removed = changes.until(({ definitions }) => !definitions.has('first'));
    await rm(join(directory, 'a.yaml'));
    await removed;
    expect([...watcher.current().definitions.keys()]).toEqual(['second']);
  });

  it('keeps the earlier version of a file that breaks, says why, and recovers', async () => {
    await write('a.yaml', yamlOf('first', step));
    watcher = await watchMegaServices({ directory, registry });
    const good = watcher.current().definitions.get('first');
    await write('a.yaml', yamlOf('first', '{ service: oracle }'));
    await watcher.reload();
    expect(watcher.current().definitions.get('first')).toBe(good);
    expect(errorsOf(watcher.current())['a.yaml']).toContain('unknown service "oracle"');
    await write('a.yaml', 'nodes: {');
    await watcher.reload();
    expect(watcher.current().definitions.get('first')).toBe(good);
    await write('a.yaml', yamlOf('first', '{ service: embedding }'));
    await watcher.reload();
    expect(watcher.current().definitions.get('first')).not.toBe(good);
    expect(watcher.current().errors.size).toBe(0);
  });

  it('keeps a mega service whose inner one breaks, and the inner one too', async () => {
    await write('a.yaml', yamlOf('outer', '{ service: inner }'));
    await write('b.yaml', yamlOf('inner', step));
    watcher = await watchMegaServices({ directory, registry });
    await write('b.yaml', 'broken');
    const { definitions, errors } = await watcher.reload();
    expect([...definitions.keys()].toSorted((a, b) => a.localeCompare(b))).toEqual(['inner', 'outer']);
    expect([...errors.keys()]).toEqual(['b.yaml']);
  });

  it('keeps a mega service whose inner one is removed, and says so', async () => {
    await write('a.yaml', yamlOf('outer', '{ service: inner }'));
    await write('b.yaml', yamlOf('inner', step));
    watcher = await watchMegaServices({ directory, registry });
    await rm(join(directory, 'b.yaml'));
    const { definitions, errors } = await watcher.reload();
    expect([...definitions.keys()]).toEqual(['outer']);
    expect(errors.get('a.yaml')?.message).toContain('unknown service "inner"');
  });

  it('leaves a running request on its version', async () => {
    await write('a.yaml', yamlOf('first', '{ service: retrieval, params: { k: 1 } }'));
    watcher = await watchMegaServices({ directory, registry });
    const before = watcher.current().definitions.get('first');
    if (!before) throw new Error('not loaded');
    const run = runWith(before, { a: ({ parameters }) => Promise.resolve(parameters.k) });
    await write('a.yaml', yamlOf('first', '{ service: retrieval, params: { k: 2 } }'));
    await watcher.reload();
    expect(await run.result).toBe(1);
    expect(watcher.current().definitions.get('first')?.nodes.get('a')?.target.params).toEqual({ k: 2 });
  });

  it('keeps everything when the directory goes away, and says so', async () => {
    await write('a.yaml', yamlOf('first', step));
    watcher = await watchMegaServices({ directory, registry });
    await rm(directory, { recursive: true });
    const { definitions, errors } = await watcher.reload();
    expect([...definitions.keys()]).toEqual(['first']);
    expect(errors.get(directory)?.message).toContain('ENOENT');
  });

  it('rejects for a directory that is not there', async () => {
    await expect(watchMegaServices({ directory: join(directory, 'absent'), registry })).rejects.toThrow(
      'ENOENT',
    );
  });
});
