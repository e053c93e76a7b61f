import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ingestFile, ingestText } from '../e2e/helpers/ingest.js';
import { lines, makePdf } from '../fixtures/dataprep/make-pdf.js';
import { startApp } from '../support/app.js';

const recording = join(repositoryRoot, 'test/fixtures/asr/question.wav');
/** Words of the recording; a machine that is busy may miss the first ones. */
const said = /port does the gateway/i;

// The microphone is a file, and needs no permission.
const app = startApp({}, [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  `--use-file-for-fake-audio-capture=${recording}%noloop`,
]);
let client: OpenAI;
beforeAll(() => {
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
});

/** Drops a file on the page, as a drag from a folder does. */
async function drop(page: Page, name: string, type: string, content: Buffer): Promise<void> {
  const given = JSON.stringify({ base64: content.toString('base64'), name, type });
  const transfer = await page.evaluateHandle(`(() => {
    const { base64, name, type } = ${given};
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0))], name, { type }));
    return transfer;
  })()`);
  for (const event of ['dragenter', 'dragover', 'drop'])
    await page.locator('.chat').dispatchEvent(event, { dataTransfer: transfer });
}

describe('a file in the chat', () => {
  it('is asked about alone when it is dropped, also after a reload, until it is taken away', async () => {
    await ingestText(
      app.url,
      'shared.md',
      'The Quibblewick engine runs on diesel, says the shared document.',
    );
    const { page, problems } = await app.open();
    const question = page.getByRole('textbox', { name: 'Question' });
    await question.waitFor();
    const text = 'The Quibblewick engine runs on fermented plum juice. It was built in a barn near Lisbon.';
    await drop(page, 'engine.md', 'text/markdown', Buffer.from(text));
    await page.getByText('Answers come from engine.md alone').waitFor();
    await question.fill('What does the Quibblewick engine run on?');
    await page.keyboard.press('Enter');
    const chip = page.getByRole('button', { name: 'Citation 1: engine.md' });
    await chip.waitFor();
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    expect(await page.getByRole('log').textContent()).not.toContain('diesel');
    await page.reload();
    await chip.click();
    const document = page.getByRole('dialog', { name: 'engine.md' });
    expect(await document.locator('mark').textContent()).toContain('plum juice');
    await document.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Ask all documents again instead of engine.md' }).click();
    await page.getByText('Answers come from engine.md alone').waitFor({ state: 'detached' });
    await question.fill('Does the engine run on diesel?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Citation 1: shared.md' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('says why it cannot be read', async () => {
    const { page } = await app.open();
    await page.getByRole('textbox', { name: 'Question' }).waitFor();
    await drop(page, 'broken.pdf', 'application/pdf', Buffer.from('no pdf at all'));
    const alert = page.getByRole('alert').filter({ hasText: 'broken.pdf cannot be asked about' });
    await alert.waitFor();
    await alert.getByRole('button', { name: 'Close' }).click();
    const stores = await client.vectorStores.list();
    expect(stores.data.map(({ name }) => name)).not.toContain('broken.pdf');
  });

  it('stays with its conversation, and goes with it', async () => {
    const { page } = await app.open();
    await page.getByRole('textbox', { name: 'Question' }).waitFor();
    await drop(page, 'parrots.txt', 'text/plain', Buffer.from('The parrots of the harbor sleep at noon.'));
    await page.getByText('Answers come from parrots.txt alone').waitFor();
    await page.getByRole('textbox', { name: 'Question' }).fill('When do the parrots sleep?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    // The next conversation begins without it.
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
    expect(await page.getByText('Answers come from').count()).toBe(0);
    await page.getByRole('link', { name: 'When do the parrots sleep?' }).click();
    await page.getByText('Answers come from parrots.txt alone').waitFor();
    await page.getByRole('button', { name: 'Actions for When do the parrots' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await expect
      .poll(async () => (await client.files.list()).data.map(({ filename }) => filename))
      .not.toContain('parrots.txt');
  });
});

describe('a citation of a PDF', () => {
  it('names the page of the sentence, and opens the document there', async () => {
    const pages = ['The first page is about nothing.', 'The lighthouse keeper counts ninety-nine steps.'];
    await ingestFile(app.url, 'tower.pdf', makePdf(pages.map((page) => lines([page]))));
    const { page, problems } = await app.open();
    await page
      .getByRole('textbox', { name: 'Question' })
      .fill('How many steps does the lighthouse keeper count?');
    await page.keyboard.press('Enter');
    const chip = page.getByRole('button', { name: 'Citation 1: tower.pdf, p. 2' });
    await chip.waitFor();
    expect(await chip.textContent()).toBe('1 · p. 2');
    await chip.click();
    const document = page.getByRole('dialog', { name: 'tower.pdf, p. 2' });
    expect(await document.locator('mark').textContent()).toContain('ninety-nine steps');
    expect(problems).toEqual([]);
  });
});

describe('speech', () => {
  it('is written into the question from a recording', async () => {
    const { page, problems } = await app.open();
    const question = page.getByRole('textbox', { name: 'Question' });
    await question.fill('Quote:');
    await drop(page, 'question.wav', 'audio/wav', await readFile(recording));
    await expect.poll(() => question.inputValue()).toMatch(said);
    expect(await question.inputValue()).toMatch(/^Quote: /);
    expect(problems).toEqual([]);
  });

  it('is written down while it is spoken', async () => {
    const { page, problems } = await app.open();
    const question = page.getByRole('textbox', { name: 'Question' });
    await question.waitFor();
    const frames: string[] = [];
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => frames.push(String(payload))),
    );
    await page.getByRole('button', { name: 'Speak the question' }).click();
    await expect.poll(() => question.inputValue()).not.toBe('');
    await expect.poll(() => frames.some((frame) => frame.includes('transcription.completed'))).toBe(true);
    await page.getByRole('button', { name: 'Stop speaking' }).click();
    await page.getByRole('button', { name: 'Speak the question' }).waitFor();
    await expect.poll(() => question.inputValue()).toMatch(said);
    const types = frames.map((frame) => (JSON.parse(frame) as { type: string }).type);
    const [partial, whole] = ['delta', 'completed'].map((end) =>
      types.indexOf(`conversation.item.input_audio_transcription.${end}`),
    );
    expect(partial).toBeGreaterThan(-1);
    expect(partial).toBeLessThan(whole ?? 0);
    expect(problems).toEqual([]);
  });
});
