import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  type Page,
} from 'playwright-core';
import { findChromium } from './find-chromium.js';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser without a window, as its users have one. */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ ...findChromium(), args: [...flags, ...more] });
}

/** A page in a profile of its own that keeps what went wrong in it. */
export interface WatchedPage {
  page: Page;
  /** Errors of scripts and of the console: violations of the Content-Security-Policy are among them. */
  problems: string[];
  /** Addresses that were asked for on other hosts. */
  foreign: string[];
}

/** The report of a service that is away, or late, has the status 503, which the browser notes in the console. */
function isHealthReport(message: ConsoleMessage): boolean {
  return new URL(message.location().url || 'about:blank').pathname.endsWith('/v1/health_check');
}

/** Opens an address and watches the page. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    ...options,
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isHealthReport(message)) problems.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) foreign.push(request.url());
  });
  await page.goto(url);
  return { page, problems, foreign };
}
