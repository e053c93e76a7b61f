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

describe('the documents page', () => {
  it('takes files, says why one failed, shows the chunks of another, deletes it and takes it back', async () => {
    const { page, problems } = await openPage(browser, `${url}/#/documents`);
    await page.getByText('There are no documents yet').waitFor();
    const file = (name: string, text: string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    });
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
    expect(problems).toEqual([]);
  });
});
