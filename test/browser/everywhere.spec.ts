import { createRequire } from 'node:module';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startService } from '#platform/testing';
import OpenAI from 'openai';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ingestText } from '../e2e/helpers/ingest.js';
import { startApp } from '../support/app.js';
import { openPage } from '../support/browser.js';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Bytes of the first visit, compressed. */
const maxBytes = 300_000;

/** Run in the page: notes how long tasks keep it busy. */
const watchTasks = `
  window.tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: 'longtask',
    buffered: true,
  });`;
const readMeasures = `new Promise((resolve) =>
  new PerformanceObserver((list) => list.getEntriesByName('first-contentful-paint').forEach(resolve)).observe({
    type: 'paint',
    buffered: true,
  }),
).then((painted) => ({
  bytes: performance
    .getEntriesByType('resource')
    .filter(({ name }) => !name.includes('/v1/'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  paint: painted.startTime,
  blocked: tasks.reduce((sum, task) => sum + Math.max(task - 50, 0), 0),
}))`;

interface Measured {
  bytes: number;
  /** Milliseconds until something is shown. */
  paint: number;
  /** Milliseconds of long tasks beyond 50 each. */
  blocked: number;
}

const app = startApp();
let client: OpenAI;
beforeAll(async () => {
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
  await ingestText(
    app.url,
    'lamps.md',
    '# Lamps\n\nThe lamps in the hall are switched off at ten in the evening.',
  );
});

/** A conversation with an answer that no model wrote. */
async function conversationWith(answer: string): Promise<string> {
  const { id } = await client.conversations.create({
    metadata: { title: 'Prepared' },
    items: [
      { type: 'message', role: 'user', content: 'A question' },
      { type: 'message', role: 'assistant', content: answer },
    ],
  });
  return id;
}

interface Findings {
  violations: { id: string; impact: string; nodes: { html: string }[] }[];
}

async function seriousFindings(page: Page): Promise<string[]> {
  const settled =
    'Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => axe.run())';
  const { violations } = await page.evaluate<Findings>(settled);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

describe('a conversation that is longer than the context of the model', () => {
  it('goes on', async () => {
    const turn = (index: number) => [
      { type: 'message' as const, role: 'user' as const, content: `Question ${index}?` },
      {
        type: 'message' as const,
        role: 'assistant' as const,
        content: 'The lamps are in the hall. '.repeat(40),
      },
    ];
    const { id } = await client.conversations.create({
      metadata: { title: 'Long' },
      items: Array.from({ length: 10 }, (_unused, index) => turn(index)).flat(),
    });
    const { page, problems } = await app.open(`/#/chat/${id}`);
    await page.getByRole('textbox', { name: 'Question' }).fill('When are the lamps switched off?');
    await page.keyboard.press('Enter');
    await page.getByText('are switched off at ten in the evening').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('every page', () => {
  it.each(['light', 'dark'] as const)('has no serious finding of axe (%s)', async (colorScheme) => {
    // The policy of the page would refuse the script of the checker.
    const { page } = await app.open('', { colorScheme, bypassCSP: true });
    await page.addScriptTag({ path: axe });
    await page.getByRole('textbox', { name: 'Question' }).fill('When are the lamps switched off?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Citation 1/ }).waitFor();
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    for (const [link, ready] of [
      ['Documents', 'lamps.md'],
      ['Pipelines', 'reranking'],
      ['System', 'nano-chat'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link }).click();
      await page.getByText(ready).first().waitFor();
      expect({ link, findings: await seriousFindings(page) }).toEqual({ link, findings: [] });
    }
  });

  it('has the controls of a conversation in one line on a phone', async () => {
    const id = await conversationWith('An answer.');
    const { page } = await app.open(`/#/chat/${id}`, { viewport: { width: 360, height: 640 } });
    const bar = page.locator('header.bar');
    await bar.getByRole('button', { name: 'Export as Markdown' }).waitFor();
    expect((await bar.boundingBox())?.height).toBeLessThan(70);
  });

  it('fits a phone, with the menu behind a button', async () => {
    const { page, problems } = await app.open('', { viewport: { width: 360, height: 640 } });
    for (const name of ['Documents', 'Pipelines', 'System', 'Chat']) {
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('dialog').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const [wide, viewport] = await page.evaluate<[number, number]>(
        '[document.body.scrollWidth, window.innerWidth]',
      );
      expect({ name, fits: wide <= viewport }).toEqual({ name, fits: true });
    }
    expect(problems).toEqual([]);
  });

  it('leads to the API reference below a list without conversations', async () => {
    const { page, problems } = await app.open();
    await page
      .getByRole('searchbox', { name: 'Search conversations' })
      .fill('not the title of a conversation');
    const menu = page.getByRole('complementary', { name: 'Menu' });
    await menu.getByText('Nothing found').waitFor();
    // A click that another element would receive fails.
    await menu.getByRole('link', { name: 'API reference' }).click({ trial: true, timeout: 5_000 });
    expect(problems).toEqual([]);
  });

  it('speaks German where the browser does', async () => {
    const { page } = await app.open('', { locale: 'de-DE' });
    await page.getByRole('textbox', { name: 'Frage' }).waitFor();
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('de');
    await page.getByRole('combobox', { name: 'Sprache' }).selectOption('en');
    await page.getByRole('textbox', { name: 'Question' }).waitFor();
  });

  it('loads within its budget, and quickly', async () => {
    const context = await app.browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(watchTasks);
    await page.goto(app.url);
    await page.getByRole('textbox', { name: 'Question' }).waitFor();
    // The text box is there before its first picture is.
    await page.waitForFunction('performance.getEntriesByName("first-contentful-paint").length > 0');
    const measured = await page.evaluate<Measured>(readMeasures);
    console.log(
      `first load: ${Math.round(measured.bytes / 1000)} kB, first contentful paint ${Math.round(measured.paint)} ms, total blocking time ${Math.round(measured.blocked)} ms`,
    );
    expect(measured.bytes).toBeGreaterThan(50_000);
    expect(measured.bytes).toBeLessThanOrEqual(maxBytes);
    await context.close();
  });
});

describe('a warning of a service', () => {
  const setModel = async (from: string, to: string) => {
    const database = new Client(app.stack.postgres.connectionString);
    await database.connect();
    const { rows } = await database.query<{ embedding_model: string }>(
      'SELECT embedding_model FROM documents',
    );
    await database.query('UPDATE documents SET embedding_model = $2 WHERE embedding_model LIKE $1', [
      from,
      to,
    ]);
    await database.end();
    return rows[0]!.embedding_model;
  };
  const hasWarnings = async () => {
    const report = (await (await fetch(`${app.url}/v1/health_check`)).json()) as object;
    return 'warnings' in report;
  };
  let model = '';
  beforeAll(async () => {
    model = await setModel('%', 'old-model@1');
    await vi.waitUntil(hasWarnings, { timeout: 60_000 });
  });
  afterAll(() => setModel('old-model@1', model));

  it.each([
    ['en-US', 'light', { notice: 'Answers may be less exact.', why: 'See why', title: 'Warnings' }],
    ['de-DE', 'dark', { notice: 'Ungenauere Antworten möglich.', why: 'Warum?', title: 'Warnungen' }],
  ] as const)(
    'is one line above the chat and the documents, and whole on the system page (%s, %s)',
    async (locale, colorScheme, texts) => {
      const viewport = { width: 390, height: 844 };
      const { page, problems } = await app.open('', { viewport, locale, colorScheme, bypassCSP: true });
      await page.addScriptTag({ path: axe });
      const notice = page.getByRole('status').filter({ hasText: texts.notice });
      for (const name of ['chat', 'documents']) {
        await page.goto(`${app.url}/#/${name}`);
        await notice.getByRole('link', { name: texts.why }).waitFor();
        const height = (await notice.boundingBox())?.height;
        expect({ name, isOneLine: height !== undefined && height < 45 }).toEqual({ name, isOneLine: true });
        expect({ name, findings: await seriousFindings(page) }).toEqual({ name, findings: [] });
      }
      await notice.getByRole('link', { name: texts.why }).click();
      const list = page.getByRole('status', { name: texts.title });
      await list
        .getByRole('listitem')
        .getByText(/1 documents of .* have vectors of old-model@1/)
        .waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate<number>('document.body.scrollWidth')).toBe(viewport.width);
      expect(problems).toEqual([]);
    },
  );

  it('stays hidden in the session after its notice was dismissed', async () => {
    const { page } = await app.open();
    const notice = page.getByText('Answers may be less exact.');
    await page.getByRole('button', { name: 'Hide this notice' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.reload();
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'System' }).click();
    await page.getByRole('status', { name: 'Warnings' }).waitFor();
    await pages.getByRole('link', { name: 'Documents' }).click();
    await page.getByText('lamps.md').waitFor();
    expect(await notice.count()).toBe(0);
    const other = await app.open();
    await other.page.getByText('Answers may be less exact.').waitFor();
  });
});

describe('an answer', () => {
  it('has its thoughts and calls of tools folded, and its code colored', async () => {
    const { id } = await client.conversations.create({
      metadata: { title: 'Tools' },
      items: [
        { type: 'message', role: 'user', content: 'What is the weather?' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Ask the tool first.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"town":"Lisbon"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
        { type: 'message', role: 'assistant', content: 'Sunny.\n\n```js\nconst sun = true;\n```' },
      ],
    });
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, problems } = await app.open(`/#/chat/${id}`, { permissions });
    const call = page.locator('details', { hasText: 'Tool: get_weather' });
    expect(await call.getByText('Lisbon').isVisible()).toBe(false);
    await call.locator('summary').click();
    await call.getByText('Lisbon').waitFor();
    const thoughts = page.locator('details', { hasText: 'Thoughts' });
    expect(await thoughts.getByText('Ask the tool').isVisible()).toBe(false);
    await thoughts.locator('summary').click();
    await thoughts.getByText('Ask the tool').waitFor();
    await page.locator('.hljs-keyword', { hasText: 'const' }).waitFor();
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('moves nothing that is on the page while it is written', async () => {
    const { page } = await app.open();
    const ask = async (question: string) => {
      await page.getByRole('textbox', { name: 'Question' }).fill(question);
      await page.keyboard.press('Enter');
      const turn = page.getByRole('article', { name: question });
      await turn.getByRole('button', { name: 'Copy the answer' }).waitFor();
    };
    await ask('When are the lamps switched off?');
    await page.evaluate(`window.shifts = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) window.shifts += value;
      }).observe({ type: 'layout-shift' });`);
    await ask('Where are the lamps?');
    const shifts = await page.evaluate<number>('window.shifts');
    console.log(`layout shift of an answer: ${shifts.toFixed(3)}`);
    expect(shifts).toBeLessThan(0.1);
  });

  it('runs no script, loads nothing of other hosts and leads to no script', async () => {
    const attack = [
      '<script>window.hit = 1</script><img src=x onerror="window.hit = 2"><svg onload="window.hit = 3"></svg>',
      '<iframe srcdoc="<script>parent.hit = 4</script>"></iframe><style>body { display: none }</style>',
      '[a link](javascript:window.hit=5) ![an image](https://images.invalid/a.png) [data](data:text/html,x)',
      '<a href="https://example.org" onclick="window.hit = 6">html</a> <cite-mark number="1" at="0">no</cite-mark>',
      'Run npm run ingest -- <folder> at',
      'The end [1].',
    ].join('\n\n');
    const id = await conversationWith(attack);
    const { page, problems, foreign } = await app.open(`/#/chat/${id}`);
    const answer = page.locator('.answer');
    await answer.getByText('The end').waitFor();
    for (const link of await answer.locator('a').all()) {
      expect(await link.getAttribute('href')).toMatch(/^https:/);
      await link.click({ modifiers: ['Alt'], trial: true });
    }
    expect(await answer.locator('script, img, svg, iframe, style, .chip').count()).toBe(0);
    // A quote stays whole.
    expect(await answer.textContent()).toContain('npm run ingest -- <folder> at');
    expect(await page.evaluate<boolean>('"hit" in window')).toBe(false);
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  });
});

describe('the page itself', () => {
  it('forbids what it does not need, and lets browsers keep its files', async () => {
    const page = await fetch(app.url);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const script = /src="\.\/(assets\/[^"]+)"/.exec(await page.text())?.[1];
    const file = await fetch(`${app.url}/${script}`, { headers: { 'accept-encoding': 'br' } });
    expect(file.headers.get('content-encoding')).toBe('br');
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await fetch(`${app.url}/assets/none.js`)).status).toBe(404);
    expect((await fetch(`${app.url}/assets/..%2findex.html`)).status).toBeGreaterThanOrEqual(400);
  });

  it('is not there with WEB_UI=false', async () => {
    const gateway = await startService('gateway', { ...app.stack.env, WEB_UI: 'false' });
    try {
      expect((await fetch(gateway.url)).status).toBe(404);
      expect((await fetch(`${gateway.url}/favicon.svg`)).status).toBe(404);
    } finally {
      await gateway.stop();
    }
  });

  it('works under a prefix behind a proxy', async () => {
    const { port } = new URL(app.url);
    const proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? '').replace(/^\/team\/nest/, '');
      const { method, headers } = incoming;
      const onward = forward({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/team/nest/`;
    const { page, problems } = await openPage(app.browser, base);
    await page.getByRole('textbox', { name: 'Question' }).fill('When are the lamps switched off?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Citation 1/ }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
    proxy.closeAllConnections();
    proxy.close();
  });
});
