#!/usr/bin/env node
/** `npx meganest <command>`: the programs of this folder, as `npm run build` made them. */
import { existsSync } from 'node:fs';

const programs = {
  start: 'launcher',
  ingest: 'ingest',
  doctor: 'doctor',
  reembed: 'reembed',
  models: 'models',
  backup: 'backup',
  mcp: 'mcp',
};
const [command = '', ...rest] = process.argv.slice(2);
const program = programs[command];
if (!program) {
  console.error(
    `Usage: meganest ${Object.keys(programs).join(' | ')} [options]; --help after one of them explains it`,
  );
  process.exit(2);
}
const path = new URL(`../dist/${program}.js`, import.meta.url);
if (!existsSync(path)) {
  console.error('MegaNest is not built: run `npm run build` first.');
  process.exit(1);
}
process.argv = [process.argv[0], path.pathname, ...rest];
await import(path);
