import { readFile } from 'node:fs/promises';
import { createRequire, Module } from 'node:module';

/** What the package exports; its types describe it as an ES module, which it is not. */
export type XGrammar = typeof import('@mlc-ai/web-xgrammar');

/** Node's own way to evaluate a CommonJS file, which its types leave out. */
interface CommonJsModule {
  readonly exports: XGrammar;
  _compile(source: string, file: string): void;
}

/**
 * A fresh instance of XGrammar with memory of its own. The package is a CommonJS file that its package.json declares an
 * ES module, so it is evaluated here. After an error inside it an instance is no longer safe to use: take another.
 */
export async function loadXGrammar(): Promise<XGrammar> {
  const file = createRequire(import.meta.url).resolve('@mlc-ai/web-xgrammar');
  const module = new Module(file) as unknown as CommonJsModule;
  // oxlint-disable-next-line no-underscore-dangle -- the name is Node's
  module._compile(await readFile(file, 'utf8'), file);
  return module.exports;
}
