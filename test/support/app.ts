import { startStack, type TestStack, type TestStackOptions } from '#platform/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openPage, startBrowser, type WatchedPage } from './browser.js';

/** A whole MegaNest and a browser, for the tests of a file. */
export class App {
  #stack: TestStack | undefined;
  #browser: Browser | undefined;

  get stack(): TestStack {
    if (!this.#stack) throw new Error('The stack is started before the first test');
    return this.#stack;
  }

  get browser(): Browser {
    if (!this.#browser) throw new Error('The browser is started before the first test');
    return this.#browser;
  }

  /** The gateway's address. */
  get url(): string {
    return this.stack.service('gateway').url;
  }

  /** Opens a path of the gateway, as `/#/documents`, and watches the page. */
  open(path = '', options: BrowserContextOptions = {}): Promise<WatchedPage> {
    return openPage(this.browser, this.url + path, options);
  }

  async start(options: TestStackOptions, flags: readonly string[]): Promise<void> {
    [this.#stack, this.#browser] = await Promise.all([startStack(options), startBrowser(flags)]);
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#stack?.stop();
  }
}

/** Starts it before the tests of the file, with flags of the browser, and stops it after them. */
export function startApp(options: TestStackOptions = {}, flags: readonly string[] = []): App {
  const app = new App();
  beforeAll(() => app.start(options, flags));
  afterAll(() => app.stop());
  return app;
}
