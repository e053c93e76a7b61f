import { expect, it } from 'vitest';
import { startApp } from '../support/app.js';

const key = 'a-key-of-this-test-1234';

const app = startApp({ env: { API_KEYS: key } });

it('asks for a key before it shows anything, and keeps it in the session only', async () => {
  const { page } = await app.open();
  const field = page.getByLabel('API key');
  await field.fill('wrong');
  expect(await page.getByRole('navigation').count()).toBe(0);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByText('This key is not valid.').waitFor();
  await field.fill(key);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByRole('textbox', { name: 'Question' }).waitFor();
  const kept = await page.evaluate<string[]>(
    '[JSON.stringify(localStorage), JSON.stringify(sessionStorage)]',
  );
  expect(kept[0]).not.toContain(key);
  expect(kept[1]).toContain(key);
  // The microphone's WebSocket has the key among its protocols.
  const opened = await page.evaluate<string>(`new Promise((resolve) => {
    const socket = new WebSocket('/v1/realtime?intent=transcription', ['realtime', 'openai-insecure-api-key.${key}']);
    socket.onopen = () => resolve(socket.protocol);
    socket.onerror = () => resolve('refused');
  })`);
  expect(opened).toBe('realtime');
  await page.reload();
  await page.getByRole('textbox', { name: 'Question' }).waitFor();
  const other = await page.context().newPage();
  await other.goto(app.url);
  await other.getByLabel('API key').waitFor();
});
