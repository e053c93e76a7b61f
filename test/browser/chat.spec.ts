import { startService } from '#platform/testing';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ingestText } from '../e2e/helpers/ingest.js';
import { startApp } from '../support/app.js';

const question = 'How many days of paid vacation do employees receive?';
const fact = 'Employees receive 25 days of paid vacation per year.';

const app = startApp();
beforeAll(async () => {
  const rules = `# Company rules\n\n## Vacation\n\n${fact} Vacation requests must be sent to the manager two weeks in advance.`;
  await ingestText(app.url, 'rules.md', rules);
});

/** Waits until the page knows its response by id, which a reload and a stop need. */
async function started(page: Page): Promise<void> {
  await expect
    .poll(() => page.evaluate<string>("localStorage.getItem('meganest-runs') ?? ''"))
    .toContain('resp_');
}

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate<string>(
      '(({ ariaLabel, textContent }) => ariaLabel ?? textContent)(document.activeElement)',
    );
    if (name.test(focused)) return;
  }
  throw new Error(`${key} never comes to ${name.source}`);
}

/** Asks a question and gives what the page asked the gateway with. */
async function bodyOf(page: Page, asked: string): Promise<Record<string, unknown>> {
  await page.getByRole('textbox', { name: 'Question' }).fill(asked);
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/v1/responses')),
    page.keyboard.press('Enter'),
  ]);
  await page.getByRole('article', { name: asked }).getByRole('button', { name: 'Copy the answer' }).waitFor();
  return request.postDataJSON() as Record<string, unknown>;
}

describe('the chat page', () => {
  it('answers a question and opens its source at the sentence, without an error or a foreign request', async () => {
    const { page, problems, foreign } = await app.open();
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
    const { page, problems } = await app.open();
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

  it('answers again, lists what was searched, copies and exports', async () => {
    const { page, problems } = await app.open('', {
      permissions: ['clipboard-read', 'clipboard-write'],
      acceptDownloads: true,
    });
    await bodyOf(page, question);
    await page.getByRole('button', { name: 'Answer again' }).click();
    await page
      .getByRole('button', { name: 'Stop' })
      .or(page.getByRole('button', { name: 'Answer again' }))
      .waitFor();
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    expect(await page.getByRole('log').getByRole('article').count()).toBe(1);
    await page.getByRole('button', { name: 'Copy the answer' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(fact);
    await page.getByRole('button', { name: /^\d+ passages?$/ }).click();
    const searched = page.getByRole('dialog', { name: 'Passages that were searched' });
    expect(await searched.textContent()).toContain(`Searched for: ${question}`);
    expect(await searched.getByRole('listitem').first().textContent()).toMatch(/rules\.md.*score 0\.\d/);
    await page.keyboard.press('Escape');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as Markdown' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^How many days.*\.md$/);
    const exported = await readFile(await file.path(), 'utf8');
    expect(exported).toContain(`## ${question}\n\n${fact}`);
    expect(exported).toContain('- [1] rules.md');
    expect(problems).toEqual([]);
  });

  it('asks a chosen model, with parameters of the form that the gateway describes', async () => {
    const { page, problems } = await app.open();
    const form = page.getByRole('dialog', { name: 'Parameters of chatqna' });
    await page.getByRole('button', { name: 'Parameters' }).click();
    const listed = (await (await fetch(`${app.url}/v1/list_parameters?verbose=true`)).json()) as {
      chatqna: { name: string }[];
    };
    for (const name of ['k', 'search_type', 'top_n', 'temperature']) {
      expect(listed.chatqna.map((one) => one.name)).toContain(name);
      await form
        .getByRole('textbox', { name, exact: true })
        .or(form.getByRole('combobox', { name }))
        .first()
        .waitFor();
    }
    await form.getByRole('textbox', { name: 'top_n', exact: true }).fill('1');
    await page.keyboard.press('Escape');
    expect(await bodyOf(page, question)).toMatchObject({ model: 'chatqna', top_n: 1 });
    await page.getByRole('button', { name: '1 passage', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Parameters' }).click();
    await form.getByRole('button', { name: 'Use the defaults' }).click();
    await page.keyboard.press('Escape');
    await page.getByLabel('Answered by').first().click();
    await page.getByRole('option', { name: 'nano-chat' }).click();
    const alone = await bodyOf(page, 'Say hello');
    expect(alone).toMatchObject({ model: 'nano-chat' });
    expect(alone).not.toHaveProperty('top_n');
    expect(problems).toEqual([]);
  });

  it('is used by keyboard alone', async () => {
    const { page, problems } = await app.open();
    await page.getByRole('textbox', { name: 'Question' }).waitFor();
    await page.keyboard.type(question);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    await tabTo(page, /^Citation 1/, 'Shift+Tab');
    // The sentence is shown at the focus as under the pointer.
    await page.getByRole('dialog').getByText(fact).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'rules.md' }).locator('mark').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'rules.md' }).waitFor({ state: 'detached' });
    await tabTo(page, /^Edit the question$/);
    await page.keyboard.press('Enter');
    const editor = page.getByRole('log').getByRole('textbox', { name: 'Question' });
    await editor.waitFor();
    await page.keyboard.type(' And hours?');
    await page.keyboard.press('Escape');
    await editor.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: question }).getByText(fact).waitFor();

    expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Edit the question');
    await tabTo(page, /^Documents$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Documents' }).waitFor();
    await tabTo(page, /^rules\.md$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'rules.md' }).getByText('two weeks in advance').waitFor();
    await page.keyboard.press('Escape');
    await tabTo(page, /^Delete rules\.md$/);
    expect(problems).toEqual([]);
  });

  it('goes on with an answer after a reload, and keeps one that was stopped', async () => {
    const { page, problems } = await app.open();
    const retrieval = app.stack.service('retrieval').process;
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
    const { page } = await app.open();
    await app.stack.service('retrieval').kill();
    await page.getByRole('textbox', { name: 'Question' }).fill(question);
    await page.keyboard.press('Enter');
    const failure = page.getByRole('log').getByRole('alert');
    await failure.waitFor();
    expect(await failure.textContent()).toContain('retrieval');
    const again = await startService('retrieval', app.stack.env);
    try {
      await failure.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('log').getByText(fact).waitFor();
    } finally {
      await again.stop();
    }
  });
});
