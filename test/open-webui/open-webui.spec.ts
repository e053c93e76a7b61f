import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryDirectory, startStack, type TestStack } from '#platform/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestText } from '../e2e/helpers/ingest.js';
import { startBrowser } from '../support/browser.js';
import { installOpenWebUi, startOpenWebUi, type OpenWebUi } from './open-webui-server.js';

const question = 'How many days of paid vacation do employees receive?';
const fact = 'Employees receive 25 days of paid vacation per year.';

let stack: TestStack;
let server: OpenWebUi;
let browser: Browser;
let context: BrowserContext;
let recordings: Awaited<ReturnType<typeof createTemporaryDirectory>>;

beforeAll(async () => {
  installOpenWebUi();
  stack = await startStack();
  const gateway = stack.service('gateway').url;
  await ingestText(gateway, 'rules.md', `# Company rules\n\n## Vacation\n\n${fact}`);
  recordings = await createTemporaryDirectory();
  const spoken = join(recordings.path, 'question.wav');
  await writeFile(spoken, await speak(gateway, question));
  server = await startOpenWebUi(gateway);
  browser = await startBrowser([
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${spoken}%noloop`,
    '--autoplay-policy=no-user-gesture-required',
  ]);
  context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  const page = await context.newPage();
  await page.goto(server.url);
  // The notes of the release are shown once.
  await page.getByRole('button', { name: /Okay, Let's Go/i }).click();
  await page.close();
}, 900_000);

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await recordings?.remove();
  await stack?.stop();
});

/** The microphone of the browser plays this recording. */
async function speak(gateway: string, input: string): Promise<Buffer> {
  const response = await fetch(`${gateway}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, response_format: 'wav' }),
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** Opens a new chat with a model. The page replaces its input field once while it loads its settings. */
async function openChat(model: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${server.url}/?models=${model}`);
  await page.getByRole('button', { name: `Selected model: ${model}` }).waitFor();
  // It asks for the tools of a chat last.
  await page.locator('#voice-input-button').waitFor();
  return page;
}

/** Asks a question and gives the text of the answer, once its buttons show that it has ended. */
async function ask(page: Page, text: string): Promise<string> {
  await page.locator('#chat-input').click();
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Read Aloud' }).last().waitFor({ timeout: 60_000 });
  const answer = page.locator('#response-content-container').last();
  // The page draws the text after its buttons.
  await expect.poll(() => answer.innerText()).toMatch(/\w/);
  return answer.innerText();
}

/** Keeps what a person would see, where the caller asks for pictures. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['OPEN_WEBUI_PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

describe('Open WebUI with MegaNest as its only connection', () => {
  it('offers the models that chat, and not those that embed, rerank, hear or speak', async () => {
    const page = await openChat('chatqna');
    const offered = await page.evaluate<string[]>(`fetch('/api/models', {
      headers: { authorization: 'Bearer ' + localStorage.token } })
      .then((response) => response.json())
      .then(({ data }) => data.filter(({ info }) => !info?.meta?.hidden).map(({ id }) => id))`);
    expect(offered).toEqual(expect.arrayContaining(['chatqna', 'nano-chat']));
    for (const name of ['nano-embed', 'nano-rerank', 'nano-asr', 'flite'])
      expect(offered).not.toContain(name);
    await page.close();
  });

  it('answers from the documents with a source, and gives the chat a title', async () => {
    const page = await openChat('chatqna');
    const answer = await ask(page, question);
    expect(answer).toContain('25 days');
    // The sentence has the title of its document, and the list below it has one source.
    await page.getByRole('button', { name: 'Company rules' }).first().waitFor();
    await page.getByRole('button', { name: '1 Source' }).waitFor();
    await picture(page, 'chat-with-source');
    // The question itself is the title until the model has written one.
    await expect.poll(() => page.title()).toMatch(/^Days paid vacation employees|paid vacation/i);
    expect(await page.title()).not.toMatch(/could not find|[{}"]/i);
    await page.close();
  });

  it('answers a greeting without a source', async () => {
    const page = await openChat('chatqna');
    const answer = await ask(page, 'Hello!');
    expect(answer).not.toMatch(/could not find|error/i);
    expect(await page.getByRole('button', { name: /\d+ sources?/i }).count()).toBe(0);
    await picture(page, 'greeting');
    await page.close();
  });

  it('reads an answer aloud', async () => {
    const page = await openChat('chatqna');
    await ask(page, question);
    const spoken = page.waitForResponse((response) => response.url().includes('/audio/speech'));
    await page.getByRole('button', { name: 'Read Aloud' }).last().click();
    const response = await spoken;
    expect(response.status()).toBe(200);
    expect(response.headers()['content-type']).toMatch(/^audio\//);
    expect((await response.request().sizes()).responseBodySize).toBeGreaterThan(1000);
    await page.close();
  });

  it('writes what is said to the microphone', async () => {
    const page = await openChat('chatqna');
    await page.locator('#voice-input-button').click();
    await page.locator('#confirm-recording-button').waitFor();
    // The recording plays in real time.
    await page.waitForTimeout(5000);
    const heard = page.waitForResponse((response) => response.url().includes('/audio/transcriptions'));
    await page.locator('#confirm-recording-button').click();
    expect((await heard).status()).toBe(200);
    await expect.poll(() => page.locator('#chat-input').innerText()).toMatch(/days|paid|employees/i);
    await picture(page, 'dictated');
    await page.close();
  });
});
