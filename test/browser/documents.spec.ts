import { startStack, type TestStack } from '#testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, startBrowser } from '../support/browser.js';

let stack: TestStack;
let browser: Browser;
let url: string;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startStack(), startBrowser()]);
  url = stack.service('gateway').url;
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

describe('the documents page', () => {
  it('takes files, says why one failed, shows the chunks of another, deletes it and takes it back', async () => {
    const { page, problems } = await openPage(browser, `${url}/#/documents`);
    await page.getByText('There are no documents yet').waitFor();
    await page
      .getByLabel('Choose files')
      .and(page.locator('input'))
      .setInputFiles([
        file('engine.txt', 'The engine runs on plum juice.'),
        file('broken.xyz', '\u0000\u0001'),
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
    const { page } = await openPage(browser, `${url}/#/documents`);
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
});
