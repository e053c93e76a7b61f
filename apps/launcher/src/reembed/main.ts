/** `npm run reembed`: embeds the documents of other embedding models again, in a running MegaNest, and shows the progress. */
import { setTimeout as pause } from 'node:timers/promises';
import { reembeddingStateSchema, type ReembeddingState } from '#platform/contracts';
import { readGatewayOptions } from '../gateway-options.js';

const usage = `Usage: npm run reembed [-- options]

After a change of the embedding model: embeds the stored documents again. It goes on in the background when this command
ends, and the same command continues it after an interruption. Until it is done, their collections are searched by words.

Options:
  --url <address>         gateway or dataprep service [http://127.0.0.1:8888]
  --key <API key>         API key [the first of API_KEYS]
  --help                  show this text`;

const progressEveryMs = 1_000;

async function ask(url: string, key: string | undefined, method: 'GET' | 'POST'): Promise<ReembeddingState> {
  const options = { method, ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }) };
  const response = await fetch(new URL('/v1/dataprep/reembed', url), options);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return reembeddingStateSchema.parse(await response.json());
}

async function main(): Promise<void> {
  const options = readGatewayOptions(usage);
  if (!options) return console.log(usage);
  const { url, key } = options;
  let state = await ask(url, key, 'POST');
  console.log(`${state.left} documents to embed with ${state.model}.`);
  while (state.running) {
    await pause(progressEveryMs);
    state = await ask(url, key, 'GET');
    console.log(`${state.done} done, ${state.left} left`);
  }
  for (const problem of state.problems) console.error(problem);
  if (state.left > 0) process.exitCode = 1;
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
