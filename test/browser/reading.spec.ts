import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ingestText } from '../e2e/helpers/ingest.js';
import { startApp } from '../support/app.js';

const question = 'How many days of paid vacation do employees receive?';
const fact = 'Employees receive 25 days of paid vacation per year.';
const phone = { width: 390, height: 844 };

const app = startApp();
let client: OpenAI;
beforeAll(async () => {
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
  await ingestText(app.url, 'rules.md', `# Company rules\n\n## Vacation\n\n${fact}`);
});

type Item = OpenAI.Responses.ResponseInputItem;

const user = (content: string): Item => ({ type: 'message', role: 'user', content });
const assistant = (content: string): Item => ({ type: 'message', role: 'assistant', content });

async function conversationWith(title: string, items: Item[]): Promise<string> {
  return (await client.conversations.create({ metadata: { title }, items })).id;
}

async function ask(page: Page, asked: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Question' }).fill(asked);
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: asked }).getByRole('button', { name: 'Copy the answer' }).waitFor();
}

describe('the menu on a phone', () => {
  it('lists the conversations, and opens one', async () => {
    const id = await conversationWith('An earlier conversation', [
      user('A question'),
      assistant('An answer'),
    ]);
    const { page, problems } = await app.open('', { viewport: phone });
    await page.getByRole('button', { name: 'Menu' }).click();
    const list = page.getByRole('dialog').getByRole('navigation', { name: 'Conversations' });
    await list.getByRole('link', { name: 'An earlier conversation' }).click();
    await page.getByText('An answer').waitFor();
    expect(page.url()).toContain(id);
    expect(problems).toEqual([]);
  });
});

describe('a table in an answer', () => {
  it('breaks no word of a cell, and scrolls in place of the page', async () => {
    const heads = ['City', 'Country', 'Inhabitants', 'Hotel limit', 'Breakfast', 'Transportation'];
    const table = [heads, heads.map(() => '---'), heads.map((head) => `${head} of Berlin`)]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n');
    const id = await conversationWith('Table', [user('Which cities?'), assistant(table)]);
    const { page } = await app.open(`/#/chat/${id}`, { viewport: phone });
    await page.getByRole('cell', { name: 'Transportation of Berlin' }).waitFor();
    // A word that is broken has a second line.
    const broken = await page.evaluate<string[]>(`[...document.querySelectorAll('.answer th')]
      .filter((cell) => {
        const range = document.createRange();
        const text = cell.firstChild;
        return [...text.data.matchAll(/\\S+/g)].some(({ 0: word, index }) => {
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          return range.getClientRects().length > 1;
        });
      })
      .map(({ textContent }) => textContent)`);
    expect(broken).toEqual([]);
    expect(await page.evaluate<boolean>('document.body.scrollWidth <= innerWidth')).toBe(true);
  });
});

describe('the address', () => {
  it('may be malformed: the page says so, and its menu works', async () => {
    const { page } = await app.open('/#/chat/%E0%A4%A');
    await page.getByRole('main').getByRole('alert').waitFor();
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor();
    expect(await page.getByRole('main').getByRole('alert').count()).toBe(0);
  });

  it('contains the open source: Back and Close close it, and a reload opens it', async () => {
    const { page, problems } = await app.open();
    await ask(page, question);
    const source = page.getByRole('dialog', { name: 'rules.md' });
    const chip = page.getByRole('button', { name: 'Citation 1: rules.md' });
    await chip.click();
    await source.locator('mark').waitFor();
    await page.goBack();
    await source.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: question }).waitFor();
    await chip.click();
    await source.locator('mark').waitFor();
    await page.reload();
    expect(await source.locator('mark').textContent()).toBe(fact);
    await source.getByRole('button', { name: 'Close' }).click();
    await source.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: question }).waitFor();
    // A closed source is not the entry before.
    await page.goBack();
    await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('has the title of its page', async () => {
    const id = await conversationWith('Days off', [user('A question'), assistant('An answer')]);
    const { page } = await app.open(`/#/chat/${id}`);
    await expect.poll(() => page.title()).toBe('Days off – MegaNest');
    await page.getByRole('link', { name: 'Documents' }).click();
    await expect.poll(() => page.title()).toBe('Documents – MegaNest');
  });
});

describe('a question without a connection', () => {
  it('stays in the question field of a new conversation', async () => {
    const { page } = await app.open();
    await page.getByRole('combobox', { name: 'Collection to search' }).waitFor();
    await page.context().setOffline(true);
    const field = page.getByRole('textbox', { name: 'Question' });
    await field.fill(question);
    await page.keyboard.press('Enter');
    await page.getByText('MegaNest does not answer').waitFor();
    expect(await field.inputValue()).toBe(question);
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('log').getByText(fact).waitFor();
  });
});

describe('the collection of a chat', () => {
  it('is shown at the question field, is searched, and is kept', async () => {
    const form = new FormData();
    form.append('collection', 'lockers');
    form.append('files', new Blob(['The locker of person 77 has the number 2849.']), 'lockers.txt');
    expect((await fetch(`${app.url}/v1/dataprep/ingest`, { method: 'POST', body: form })).status).toBe(200);
    const { page, problems } = await app.open('', { viewport: phone });
    const choice = page.getByRole('combobox', { name: 'Collection to search' });
    await choice.waitFor();
    expect(await choice.inputValue()).toBe('default');
    await choice.selectOption('lockers');
    await ask(page, 'What is the number of the locker of person 77?');
    await page.getByRole('button', { name: 'Citation 1: lockers.txt' }).waitFor();
    await page.reload();
    await expect.poll(() => choice.inputValue()).toBe('lockers');
    await choice.selectOption('default');
    await ask(page, question);
    await page.getByRole('button', { name: 'Citation 1: rules.md' }).waitFor();
    expect(problems).toEqual([]);
  });
});
