import OpenAI from 'openai';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app.js';
import { scrollCost, type ScrollCost } from '../support/frame-work.js';

/** Milliseconds that the page may need for a frame: half of those of a display with 60 frames a second. */
const maxWork = 1000 / 60 / 2;
/** Percent of the frames that may show nothing new. */
const maxDropped = 2;
/** Percent of the time that the page's thread may wait: beyond it other programs have the processor. */
const maxWaiting = 25;
/** How often a list is scrolled until no other program disturbs it. */
const maxPasses = 6;
/** Elements that a page may hold of a list, however long it is. */
const maxElements = 3_000;

const app = startApp();

/** Scrolls until a pass shows its frames: other programs can only take some away. The work of a frame counts in each. */
async function scrolls(what: string, pass: (number: number) => Promise<ScrollCost>): Promise<void> {
  const costs: ScrollCost[] = [];
  for (let number = 0; number < maxPasses; number += 1) {
    const cost = await pass(number);
    costs.push(cost);
    const [perSecond, dropped, work, waiting] = [cost.perSecond, cost.dropped, cost.work, cost.waiting].map(
      (value) => value.toFixed(1),
    );
    console.log(
      `${what}: ${cost.frames} frames, ${perSecond} a second, ${dropped} % dropped; ${work} ms of work a frame; waited ${waiting} % of its time`,
    );
    expect(cost.work).toBeLessThan(maxWork);
    if (cost.dropped < maxDropped) return;
  }
  const judged = costs.filter(({ waiting }) => waiting <= maxWaiting);
  expect(judged.map(({ dropped }) => dropped)).toEqual([]);
  console.log(`${what}: other programs had the processor in each pass, so that its frames are not judged`);
}

const elements = (page: Page) => page.evaluate<number>('document.querySelectorAll("*").length');

describe('a conversation of 1,000 messages', () => {
  it('opens at its end, holds few elements and scrolls within the time of a frame', async () => {
    const answer = (index: number) =>
      [
        `Answer ${index}: the lamps are switched off at **ten** in the evening, see [the rules](https://example.org/${index}).`,
        '- first the hall\n- then the stairs\n- last the yard',
        '```js\nconst lamp = { on: false };\n```',
        index % 5 === 0
          ? '| lamp | time |\n| --- | --- |\n| hall | 22:00 |\n| yard | 23:00 |'
          : 'That is all.',
      ].join('\n\n');
    const items = Array.from({ length: 500 }, (_none, index) => [
      { type: 'message' as const, role: 'user' as const, content: `Question ${index}?` },
      { type: 'message' as const, role: 'assistant' as const, content: answer(index) },
    ]).flat();
    const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const { id } = await client.conversations.create({ metadata: { title: 'Long' }, items });
    const { page, problems } = await app.open(`/#/chat/${id}`);
    await page.getByText('Answer 499:').waitFor();
    expect(await elements(page)).toBeLessThan(maxElements);
    await scrolls('1,000 messages', async (pass) => {
      const cost = await scrollCost(page, { x: 700, y: 400 }, pass % 2 ? -16_000 : 16_000);
      expect(await page.getByText('Answer 499:').count()).toBe(pass % 2);
      expect(await elements(page)).toBeLessThan(maxElements);
      return cost;
    });
    expect(problems).toEqual([]);
  });
});

describe('a collection of 10,000 documents', () => {
  it('is read in pages, holds few elements and scrolls within the time of a frame', async () => {
    const database = new Client(app.stack.postgres.connectionString);
    await database.connect();
    await database.query(`
      INSERT INTO documents (id, collection, filename, content_hash, mime_type, bytes, embedding_model,
        embedding_dimensions, chunk_count, created_at)
      SELECT gen_random_uuid(), 'archive', 'report-' || lpad(n::text, 5, '0') || '.pdf', md5(n::text), 'application/pdf',
        1000 + n, 'none', 3, n % 40, now() - n * interval '1 minute' FROM generate_series(1, 10000) AS n`);
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM documents WHERE filename = 'report-09999.pdf'`,
    );
    await database.end();
    const { page, problems } = await app.open('/#/documents');
    await page.getByText('report-00001.pdf').waitFor();
    const table = page.getByRole('table', { name: 'Documents' });
    const box = await table.boundingBox();
    const at = { x: 700, y: (box?.y ?? 0) + 150 };
    await scrolls('10,000 documents', () => scrollCost(page, at, -20_000));
    expect(await page.getByText('report-00001.pdf').count()).toBe(0);
    // The rows that were scrolled to have come from the gateway meanwhile.
    await page
      .getByText(/report-0(0[4-9]|[1-9]\d)\d\d\.pdf/)
      .first()
      .waitFor();
    expect(await elements(page)).toBeLessThan(maxElements);
    // A link to a document that the list has not read yet.
    await page.goto(`${app.url}/#/documents/${rows[0]?.id}`);
    await page.getByRole('dialog', { name: 'report-09999.pdf' }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('more conversations than a page of the list has', () => {
  it('are all searched', async () => {
    const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
    await client.conversations.create({ metadata: { title: 'The oldest of all' } });
    for (let index = 0; index < 105; index += 1)
      await client.conversations.create({ metadata: { title: `Conversation ${index}` } });
    const { page, problems } = await app.open();
    const conversations = page.getByRole('navigation', { name: 'Conversations' });
    await conversations.getByText('Conversation 104').waitFor();
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('oldest of all');
    await conversations.getByRole('link', { name: 'The oldest of all' }).waitFor();
    expect(problems).toEqual([]);
  });
});
