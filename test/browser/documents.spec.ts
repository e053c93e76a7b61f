import { createTemporaryDirectory, startService } from '#platform/testing';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ingestText } from '../e2e/helpers/ingest.js';
import { startApp } from '../support/app.js';

const app = startApp({ env: { ALLOW_PRIVATE_LINKS: 'true' } });

const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

/** The names of the stored documents. */
async function stored(): Promise<string[]> {
  const response = await fetch(`${app.url}/v1/dataprep/get`, { method: 'POST' });
  return ((await response.json()) as { name: string }[]).map(({ name }) => name);
}

/** Drags files and folders of this machine onto the page, as the browser sees it. */
async function drag(page: Page, files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const box = await page.locator('.drop').boundingBox();
  if (!box) throw new Error('There is no place to drop');
  const place = {
    x: box.x + box.width / 2,
    y: box.y + 20,
    data: { items: [], files, dragOperationsMask: 1 },
  };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...place });
  await session.detach();
}

describe('the documents page', () => {
  it('takes files, says why one failed, shows the chunks of another, deletes it and takes it back', async () => {
    const { page, problems } = await app.open('/#/documents');
    await page.getByText('There are no documents yet').waitFor();
    await page
      .getByLabel('Choose files')
      .and(page.locator('input'))
      .setInputFiles([
        file('engine.txt', 'The engine runs on plum juice.'),
        file('broken.xyz', '\u0000\u0001'),
        file(
          'parts.org',
          'The mast is tall.\n#+INCLUDE: "rigging.org"\n| Boat | Berth |\n|-+-|\n| Frida | B5 |',
        ),
      ]);
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.locator('[data-state=done]', { hasText: 'engine.txt' }).waitFor();
    const failed = uploads.locator('[data-state=failed]', { hasText: 'broken.xyz' });
    expect(await failed.getByRole('alert').textContent()).toContain('broken.xyz');
    const table = page.getByRole('table', { name: 'Documents' });
    await table.getByRole('link', { name: 'engine.txt' }).click();
    const document = page.getByRole('dialog', { name: 'engine.txt' });
    await document.getByText('plum juice').waitFor();
    await document.getByRole('button', { name: 'Close' }).click();
    await table.getByRole('img', { name: '1 part was not read for certain' }).waitFor();
    await table.getByRole('link', { name: 'parts.org' }).click();
    const parts = page.getByRole('dialog', { name: 'parts.org' });
    await parts.getByText('Read: 1 table, encoding utf-8').waitFor();
    await parts.getByRole('status').getByText('rigging.org').waitFor();
    await parts.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Delete engine.txt' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await table.getByRole('link', { name: 'engine.txt' }).waitFor();
    expect(
      await table
        .getByRole('row', { name: /engine.txt/ })
        .getByText('Ready')
        .count(),
    ).toBe(1);
    const search = page.getByRole('searchbox', { name: 'Search documents' });
    await search.fill('turbine');
    await page.getByRole('status').getByText('Nothing found.').waitFor();
    await search.fill('engine');
    // A list that shows nothing for the while of a deletion says so too.
    await page.getByRole('button', { name: 'Delete engine.txt' }).click();
    await page.getByRole('status').getByText('Nothing found.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await table.getByRole('link', { name: 'engine.txt' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('goes on with a file that was sent before a reload, and names one that was not', async () => {
    const { page } = await app.open('/#/documents');
    const input = page.getByLabel('Choose files').and(page.locator('input'));
    const uploads = page.getByRole('region', { name: 'Uploads' });
    const long = Array.from({ length: 4_000 }, (_none, index) => `Ship ${index} left the harbor at noon.`);
    await input.setInputFiles([file('harbor.txt', long.join(' '))]);
    const kept = () => page.evaluate<string>("localStorage.getItem('meganest-uploads') ?? ''");
    await expect.poll(kept).toContain('"jobId"');
    expect(await kept()).toContain('"state":"working"');
    await page.reload();
    await uploads.locator('[data-state=done]', { hasText: 'harbor.txt' }).waitFor({ timeout: 120_000 });
    // This one never gets to the gateway.
    await page.route('**/dataprep/ingest*', () => undefined);
    await input.setInputFiles([file('lost.txt', 'Nothing of this arrives.')]);
    await uploads.locator('[data-state=sending]', { hasText: 'lost.txt' }).waitFor();
    await page.reload();
    const lost = uploads.locator('[data-state=failed]', { hasText: 'lost.txt' });
    expect(await lost.getByRole('alert').textContent()).toContain('closed before the file was sent');
    await uploads.getByRole('button', { name: 'Clear finished' }).click();
    await uploads.waitFor({ state: 'detached' });
  });

  it('takes folders and links, and says why a link failed', async () => {
    const { page, problems } = await app.open('/#/documents');
    const directory = await createTemporaryDirectory();
    const web = createServer((_request, response) => {
      response.setHeader('content-type', 'text/plain');
      response.end('The ferry leaves at seven.');
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    try {
      const chosen = join(directory.path, 'chosen');
      const dragged = join(directory.path, 'dragged/inner');
      await Promise.all([mkdir(chosen), mkdir(dragged, { recursive: true })]);
      await writeFile(join(chosen, 'harbor.txt'), 'The harbor has two cranes.');
      await writeFile(join(dragged, 'island.txt'), 'The island has one road.');
      await page.getByLabel('Choose a folder').and(page.locator('input')).setInputFiles(chosen);
      await drag(page, [join(directory.path, 'dragged')]);
      const uploads = page.getByRole('region', { name: 'Uploads' });
      for (const name of ['harbor.txt', 'island.txt'])
        await uploads.locator('[data-state=done]', { hasText: name }).waitFor();
      const link = page.getByRole('textbox', { name: 'Link' });
      const add = page.getByRole('button', { name: 'Add link' });
      await link.fill('not a link');
      expect(await add.isDisabled()).toBe(true);
      await link.fill(`http://127.0.0.1:${(web.address() as AddressInfo).port}/ferry.txt`);
      await add.click();
      await uploads.locator('[data-state=done]', { hasText: 'ferry.txt' }).waitFor();
      await link.fill('http://127.0.0.1:1/none.txt');
      await add.click();
      const failed = uploads.locator('[data-state=failed]', { hasText: 'none.txt' });
      expect(await failed.getByRole('alert').textContent()).toContain('http://127.0.0.1:1/none.txt');
      expect(problems).toEqual([]);
    } finally {
      web.close();
      await directory.remove();
    }
  });

  it('keeps the paths of the files of a folder, and says which document a file replaced', async () => {
    const { page, problems } = await app.open('/#/documents');
    const directory = await createTemporaryDirectory();
    try {
      for (const place of ['chosen/a', 'chosen/b', 'dragged/c']) {
        const folder = join(directory.path, place);
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'readme.md'), `This explains ${place}.`);
      }
      const uploads = page.getByRole('region', { name: 'Uploads' });
      const folder = page.getByLabel('Choose a folder').and(page.locator('input'));
      await folder.setInputFiles(join(directory.path, 'chosen'));
      await drag(page, [join(directory.path, 'dragged')]);
      const paths = ['chosen/a/readme.md', 'chosen/b/readme.md', 'dragged/c/readme.md'];
      for (const path of paths) await uploads.locator('[data-state=done]', { hasText: path }).waitFor();
      expect(await stored()).toEqual(expect.arrayContaining(paths));
      expect(await uploads.getByText('Replaced the earlier document').count()).toBe(0);
      await writeFile(join(directory.path, 'chosen/a/readme.md'), 'This explains it in other words.');
      await folder.setInputFiles(join(directory.path, 'chosen'));
      const replaced = uploads.locator('[data-state=done]', { hasText: 'Replaced the earlier document' });
      await replaced.getByText('chosen/a/readme.md').waitFor();
      const unchanged = uploads.locator('[data-state=done]', { hasText: 'already there' });
      await unchanged.getByText('chosen/b/readme.md').waitFor();
      expect(problems).toEqual([]);
    } finally {
      await directory.remove();
    }
  });

  it('deletes for good when nobody takes it back', async () => {
    const { page } = await app.open('/#/documents');
    await page
      .getByLabel('Choose files')
      .and(page.locator('input'))
      .setInputFiles([file('gone.txt', 'This goes soon.')]);
    await page.getByRole('button', { name: 'Delete gone.txt' }).click();
    await expect.poll(stored).not.toContain('gone.txt');
  });

  it('names the service that is away, and shows the documents when it is back', async () => {
    await ingestText(app.url, 'kept.txt', 'This stays.');
    await app.stack.service('dataprep').kill();
    const { page } = await app.open('/#/documents');
    const failure = page.getByRole('main').getByRole('alert');
    await failure.waitFor({ timeout: 120_000 });
    expect(await failure.textContent()).toContain('dataprep');
    const again = await startService('dataprep', app.stack.env);
    try {
      await failure.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table', { name: 'Documents' }).waitFor();
    } finally {
      await again.stop();
    }
  });
});
