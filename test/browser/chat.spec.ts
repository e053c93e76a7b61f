import { startService, startStack, type TestStack } from '#testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestText } from '../e2e/helpers/ingest.js';
import { openPage, startBrowser } from '../support/browser.js';

const question = 'How many days of paid vacation do employees receive?';
const fact = 'Employees receive 25 days of paid vacation per year.';

let stack: TestStack;
let browser: Browser;
let url: string;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startStack(), startBrowser()]);
  url = stack.service('gateway').url;
  const rules = `# Company rules\n\n## Vacation\n\n${fact} Vacation requests must be sent to the manager two weeks in advance.`;
  await ingestText(url, 'rules.md', rules);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Waits until the page knows its response by id, which a reload and a stop need. */
async function started(page: Page): Promise<void> {
  await expect
    .poll(() => page.evaluate<string>("localStorage.getItem('meganest-runs') ?? ''"))
    .toContain('resp_');
}

describe('the chat page', () => {
  it('answers a question and opens its source at the sentence, without an error or a foreign request', async () => {
    const { page, problems, foreign } = await openPage(browser, url);
    await page.getByRole('textbox', { name: 'Question' }).fill(question);
    await page.keyboard.press('Enter');
    const chip = page.getByRole('button', { name: 'Citation 1: rules.md' });
    await chip.waitFor();
    await chip.hover();
    await page.getByRole('dialog').getByText(fact).waitFor();
    await chip.click();
    const document = page.getByRole('dialog', { name: 'rules.md' });
    expect(await document.locator('mark').textContent()).toBe(fact);
    await document.getByText('two weeks in advance').waitFor();
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('keeps conversations: renamed, searched, asked again, deleted and taken back', async () => {
    const { page, problems } = await openPage(browser, url);
    await page.getByRole('textbox', { name: 'Question' }).fill('When does the office open?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Edit the question' }).click();
    const editor = page.getByRole('log').getByRole('textbox', { name: 'Question' });
    await editor.fill(question);
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByRole('log').getByText(fact).waitFor();
    expect(await page.getByRole('log').getByRole('article').count()).toBe(1);
    await page.getByRole('button', { name: 'Actions for When does' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Days off');
    await page.getByRole('button', { name: 'Save' }).click();
    const conversations = page.getByRole('navigation', { name: 'Conversations' });
    await conversations.getByText('Days off').waitFor();
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('days off');
    expect(await conversations.getByRole('link').count()).toBe(1);
    await page.getByRole('button', { name: 'Actions for Days off' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await conversations.getByText('Nothing found').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await conversations.getByText('Days off').waitFor();
    expect(problems).toEqual([]);
  });

  it('goes on with an answer after a reload, and keeps one that was stopped', async () => {
    const { page, problems } = await openPage(browser, url);
    const retrieval = stack.service('retrieval').process;
    retrieval.signal('SIGSTOP');
    try {
      await page.getByRole('textbox', { name: 'Question' }).fill(question);
      await page.keyboard.press('Enter');
      await started(page);
      await page.reload();
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      retrieval.signal('SIGCONT');
      await page.getByRole('log').getByText(fact).waitFor();
      await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
      retrieval.signal('SIGSTOP');
      const second = 'When must vacation requests be sent?';
      await page.getByRole('textbox', { name: 'Question' }).fill(second);
      await page.keyboard.press('Enter');
      await started(page);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('article', { name: second }).getByText('You stopped this answer.').waitFor();
      expect(await page.getByRole('log').getByRole('article').count()).toBe(2);
    } finally {
      retrieval.signal('SIGCONT');
    }
    expect(problems).toEqual([]);
  });

  it('names the service that is away, and answers when it is back', async () => {
    const { page } = await openPage(browser, url);
    await stack.service('retrieval').kill();
    await page.getByRole('textbox', { name: 'Question' }).fill(question);
    await page.keyboard.press('Enter');
    const failure = page.getByRole('log').getByRole('alert');
    await failure.waitFor();
    expect(await failure.textContent()).toContain('retrieval');
    const again = await startService('retrieval', stack.env);
    try {
      await failure.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('log').getByText(fact).waitFor();
    } finally {
      await again.stop();
    }
  });
});
