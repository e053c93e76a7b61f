import { startStack, type TestStack } from '#testing';
import OpenAI from 'openai';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, startBrowser } from '../support/browser.js';
import { scrollCost, type ScrollCost } from '../support/frame-work.js';

/** Milliseconds of a frame at 60 frames a second. */
const frameMs = 1000 / 60;
/** Elements that a page may hold of a list, however long it is. */
const mostElements = 3_000;

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

function report(what: string, cost: ScrollCost): void {
  const shown = (value: number) => value.toFixed(1);
  console.log(
    `${what}: ${cost.frames} frames, ${shown(cost.perSecond)} a second; work of a frame: median ${shown(cost.median)} ms, p95 ${shown(cost.p95)} ms, most ${shown(cost.most)} ms`,
  );
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
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
    const { id } = await client.conversations.create({ metadata: { title: 'Long' }, items });
    const { page, problems } = await openPage(browser, `${url}/#/chat/${id}`);
    await page.getByText('Answer 499:').waitFor();
    expect(await elements(page)).toBeLessThan(mostElements);
    const cost = await scrollCost(page, { x: 700, y: 400 }, 16_000);
    report('1,000 messages', cost);
    expect(await page.getByText('Answer 499:').count()).toBe(0);
    expect(await elements(page)).toBeLessThan(mostElements);
    expect(cost.frames).toBeGreaterThan(30);
    expect(cost.p95).toBeLessThan(frameMs);
    expect(problems).toEqual([]);
  });
});

describe('a collection of 10,000 documents', () => {
  it('is read in pages, holds few elements and scrolls within the time of a frame', async () => {
    const database = new Client(stack.postgres.connectionString);
    await database.connect();
    await database.query(`
      INSERT INTO documents (id, collection, filename, content_hash, mime_type, bytes, embedding_model,
        embedding_dimensions, chunk_count, created_at)
      SELECT gen_random_uuid(), 'archive', 'report-' || lpad(n::text, 5, '0') || '.pdf', md5(n::text), 'application/pdf',
        1000 + n, 'none', 3, n % 40, now() - n * interval '1 minute' FROM generate_series(1, 10000) AS n`);
    await database.end();
    const { page, problems } = await openPage(browser, `${url}/#/documents`);
    await page.getByText('report-00001.pdf').waitFor();
    const table = page.getByRole('table', { name: 'Documents' });
    const costs: ScrollCost[] = [];
    const box = await table.boundingBox();
    const at = { x: 700, y: (box?.y ?? 0) + 150 };
    for (let part = 0; part < 2; part += 1) costs.push(await scrollCost(page, at, -20_000));
    costs.forEach((cost) => report('10,000 documents', cost));
    expect(await page.getByText('report-00001.pdf').count()).toBe(0);
    // The rows that were scrolled to have come from the gateway meanwhile.
    await page
      .getByText(/report-00[4-9]\d\d\.pdf/)
      .first()
      .waitFor();
    expect(await elements(page)).toBeLessThan(mostElements);
    for (const { p95 } of costs) expect(p95).toBeLessThan(frameMs);
    expect(problems).toEqual([]);
  });
});
