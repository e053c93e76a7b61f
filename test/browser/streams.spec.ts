import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from '../e2e/helpers/engine-stack.js';
import { engineModel } from '../e2e/helpers/scripted-engine.js';
import { openPage, startBrowser } from '../support/browser.js';

/** Without a finish the engine answers the whole text. */
const lines = (count: number) => Array.from({ length: count }, (_none, line) => `- line ${line}\n`).join('');

let stack: EngineStack;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  [stack, browser] = await Promise.all([startEngineStack(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});
beforeEach(async () => {
  ({ page } = await openPage(browser, stack.gateway.url));
});
afterEach(async () => {
  stack.engine.script = undefined;
  await page.context().close();
});

async function send(question: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Question' }).fill(question);
  await page.keyboard.press('Enter');
}

const ended = (question: string) =>
  page.getByRole('article', { name: question }).getByRole('button', { name: 'Copy the answer' }).waitFor();

/** Pixels between the view and the end of the conversation. */
const fromEnd = () =>
  page.evaluate<number>(`(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(
    document.querySelector('[role=log]'))`);

describe('an answer that streams', () => {
  it.each([
    ['the wheel', () => page.mouse.wheel(0, -60)],
    ['a key', () => page.keyboard.press('PageUp')],
  ])('lets the view go with %s, and takes a new question into view', async (_way, scrollUp) => {
    stack.engine.script = () => ({ text: lines(100), pauseMs: 5 });
    await send('Count the lines');
    await page.getByText('line 90', { exact: true }).waitFor();
    await ended('Count the lines');
    stack.engine.script = () => ({ text: lines(400), pauseMs: 10 });
    await send('Count more lines');
    await page
      .getByRole('article', { name: 'Count more lines' })
      .getByText('line 30', { exact: true })
      .waitFor();
    expect(await fromEnd()).toBeLessThan(80);
    await page.getByRole('log').focus();
    await page.getByRole('log').hover();
    await scrollUp();
    // On a busy machine the page hears of it after further lines.
    await expect.poll(fromEnd).toBeGreaterThan(100);
    const answer = page.getByRole('article', { name: 'Count more lines' });
    const written = await answer.getByRole('listitem').count();
    // The answer grows below the view by more than the view.
    await expect.poll(() => answer.getByRole('listitem').count()).toBeGreaterThan(written + 60);
    expect(await fromEnd()).toBeGreaterThan(500);
    await page.getByRole('button', { name: 'Stop' }).click();
    await answer.getByText('You stopped this answer.').waitFor();
    stack.engine.script = () => ({ text: 'A short answer.' });
    await page.mouse.wheel(0, -2000);
    await send('And now?');
    await page.getByText('A short answer.').waitFor();
    await expect.poll(fromEnd).toBeLessThan(80);
    expect(await page.locator('.question', { hasText: 'And now?' }).isVisible()).toBe(true);
  });
});

describe('a partial answer', () => {
  it('that was stopped says so and keeps its sources, also after a reload', async () => {
    stack.engine.script = () => ({ text: `Passage 1 says 1. [1] ${lines(400)}`, pauseMs: 20 });
    await send('What does passage 1 say?');
    const turn = page.getByRole('article', { name: 'What does passage 1 say?' });
    await turn.getByText('line 3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    for (let visits = 0; visits < 2; visits += 1) {
      await turn.getByText('You stopped this answer.').waitFor();
      await turn.getByRole('button', { name: 'Edit the question' }).waitFor();
      await turn.getByRole('button', { name: /^Citation 1: file-\d.md/ }).waitFor();
      expect(await turn.getByRole('button', { name: '2 passages' }).count()).toBe(1);
      await page.reload();
    }
  });

  it('that was cut off says so, also after a reload', async () => {
    stack.engine.script = () => ({ text: 'Passage 1 says', finish: 'length' });
    await send('What does passage 2 say?');
    await ended('What does passage 2 say?');
    for (let visits = 0; visits < 2; visits += 1) {
      await page.getByText('The answer was cut off.').waitFor();
      await page.reload();
    }
    expect(stack.engine.asked.at(-1)?.['model']).toBe(engineModel);
  });
});
