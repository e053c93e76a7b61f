/** `npm run ingest -- <folder>`: sends the documents of a folder to a running MegaNest. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EnvironmentError } from '#platform/service-kit';
import { readLauncherEnvironment } from '../environment.js';
import { IngestClient } from './ingest-client.js';
import { ingestFolder, IngestRecord } from './ingest-folder.js';

const usage = `Usage: npm run ingest -- <folder or file> [options]

Sends every document below the folder to a running MegaNest, under its path within the folder. Skips hidden files, and
files that an earlier run has sent. After an interruption, run it again to continue.

Options:
  --url <address>         gateway or dataprep service [http://127.0.0.1:8888]
  --collection <name>     collection for the documents [default]
  --key <API key>         API key [the first of API_KEYS]
  --again                 send files again that were sent before
  --help                  show this text`;

function readOptions() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      allowPositionals: true,
      options: { url: text, collection: text, key: text, again: flag, help: { ...flag, short: 'h' } },
    });
  } catch (error) {
    throw new EnvironmentError(`${(error as Error).message}\n\n${usage}`, { cause: error });
  }
}

async function main(): Promise<void> {
  const { values, positionals } = readOptions();
  if (values.help) return console.log(usage);
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0) throw new EnvironmentError(usage);
  // npm changes to the project's folder. The user's path is relative to INIT_CWD, where npm was called.
  const folder = resolve(process.env.INIT_CWD ?? '.', given);
  if (!existsSync(folder)) throw new EnvironmentError(`${folder} does not exist.`);
  const { API_KEYS, GATEWAY_PORT, MEGANEST_DATA_DIR } = readLauncherEnvironment(process.env);
  const url = values.url ?? `http://127.0.0.1:${GATEWAY_PORT}`;
  const { collection } = values;
  const record = await IngestRecord.open(MEGANEST_DATA_DIR, folder, url, collection ?? '');
  const client = new IngestClient(url, collection, values.key ?? API_KEYS[0]);
  const { again } = values;
  const { stored, skipped, failed } = await ingestFolder(folder, {
    client,
    record,
    again,
    output: process.stdout,
  });
  const before = skipped > 0 ? `, ${skipped} were there already` : '';
  console.log(`${stored} stored${before}${failed > 0 ? `, ${failed} failed` : ''}.`);
  if (failed > 0) process.exitCode = 1;
}

process.once('SIGINT', () => {
  console.error('\nStopped. Run the same command again to continue.');
  process.exit(130);
});
await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
