import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app.js';

const key = 'a-key-of-this-test-1234';

const app = startApp({ env: { API_KEYS: key } });

describe('the panel to connect programs', () => {
  it.each([
    ['a desktop', { width: 1280, height: 800 }],
    ['a phone', { width: 390, height: 844 }],
  ])(
    'on %s shows the addresses and snippets, and hides the key until it is asked for',
    async (_name, viewport) => {
      const { page, problems } = await app.open('', {
        viewport,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Enter' }).click();
      await page.getByRole('textbox', { name: 'Question' }).waitFor();
      // The request without a key was refused.
      problems.length = 0;
      if (viewport.width < 768) await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'Connect a program' }).click();
      const panel = page.getByRole('dialog', { name: 'Connect a program' });
      expect(await panel.getByLabel('Address for OpenAI’s clients', { exact: true }).inputValue()).toBe(
        `${app.url}/v1`,
      );
      expect(await panel.getByLabel('API key', { exact: true }).inputValue()).not.toContain(key);

      const shown = async (client: string) => {
        await panel.getByLabel('Program', { exact: true }).selectOption({ label: client });
        return panel.getByRole('region', { name: client }).locator('pre').textContent();
      };
      const copied = async (name: string) => {
        await panel.getByRole('button', { name: `Copy: ${name}`, exact: true }).click();
        return page.evaluate<string>('navigator.clipboard.readText()');
      };
      for (const client of [
        'Open WebUI',
        'Claude Code',
        'Codex',
        'Python (openai)',
        'Ollama (Python)',
        'MCP (Claude Code)',
      ]) {
        const hidden = await shown(client);
        expect(hidden).toContain(app.url);
        expect(hidden).not.toContain(key);
        expect(await copied(client)).toContain(key);
      }
      expect(await copied('API key')).toBe(key);
      await panel.getByRole('button', { name: 'Show the key' }).click();
      expect(await panel.getByLabel('API key', { exact: true }).inputValue()).toBe(key);
      expect(await shown('Codex')).toContain(key);

      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(viewport.width);
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'hidden' });
      expect(problems).toEqual([]);
    },
  );
});
