import { startStack, type TestStack } from '#testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPage, startBrowser } from '../support/browser.js';

let stack: TestStack;
let browser: Browser;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startStack(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

it('shows load and latencies as charts, the engine, the models and what the doctor says', async () => {
  const { url } = stack.service('gateway');
  const chat = { messages: 'When does the office open?' };
  const answer = await fetch(`${url}/v1/chatqna`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...chat, stream: false }),
  });
  expect(answer.status).toBe(200);
  const { page, problems } = await openPage(browser, `${url}/#/system`);
  const load = page.getByRole('region', { name: 'Load of the last ten minutes' });
  for (const name of ['Requests a minute', 'Latency of an operation'])
    await load.getByRole('img', { name }).locator('canvas').waitFor();
  // The legend shows the numbers at the pointer: the last step of the chart is now.
  const box = await load.getByRole('img', { name: 'Requests a minute' }).locator('.u-over').boundingBox();
  if (!box) throw new Error('The chart has no size');
  const requests = load.locator('.u-series', { hasText: 'Requests' });
  await expect
    .poll(async () => {
      await page.mouse.move(box.x + box.width - 1 - (Date.now() % 20), box.y + 40);
      return Number.parseFloat((await requests.locator('.u-value').textContent()) ?? '');
    })
    .toBeGreaterThan(0);
  const engine = page.getByRole('region', { name: 'Engine of the language model' });
  await engine.getByRole('columnheader', { name: 'Cache of prefixes' }).waitFor();
  const models = page.getByRole('region', { name: 'Models' });
  await models.getByRole('cell', { name: 'nano-chat' }).waitFor();
  const doctor = page.getByRole('region', { name: 'The doctor’s findings' });
  await doctor.getByRole('row', { name: /OK node v?\d+/ }).waitFor();
  await doctor.getByText('→').first().waitFor();
  await doctor.getByRole('button', { name: 'Look again' }).click();
  expect(problems).toEqual([]);
});
