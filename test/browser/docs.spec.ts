import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPage, startBrowser } from '../support/browser.js';

let nats: TestNats;
let service: TestService;
let browser: Browser;

beforeAll(async () => {
  nats = await startNats();
  [service, browser] = await Promise.all([startService('guardrail', { NATS_URL: nats.url }), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await nats?.stop();
});

it('works under a Content-Security-Policy that lets no other page frame it', async () => {
  const { page, problems, foreign } = await openPage(browser, `${service.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  await page.locator('.opblock').first().click();
  await page.locator('.opblock-body').first().waitFor();
  expect(problems).toEqual([]);
  expect(foreign).toEqual([]);
  const { headers } = await fetch(`${service.url}/docs`);
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('content-security-policy')).toMatch(/script-src 'self';/);
});
