/**
 * `node dist/samples.js`: ingests the sample documents into the dataprep service of the same container, once. A
 * container with dataprep runs it; `npm start` ingests them itself.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '#paths';
import { EnvironmentError } from '#service-kit';
import { readLauncherEnvironment } from '../environment.js';
import { ingestSampleDocuments } from '../sample-documents.js';

/** Dataprep, embedding and the database may need minutes for their first start. */
const retryMs = 2_000;
const reportEvery = 30;

async function main(): Promise<void> {
  const environment = readLauncherEnvironment(process.env);
  if (!environment.MEGANEST_SAMPLE_DOCUMENTS) return;
  const options = {
    projectDirectory: projectRoot,
    markerPath: join(environment.MEGANEST_DATA_DIR, 'sample-documents.json'),
    dataprepUrl: `http://127.0.0.1:${environment.DATAPREP_PORT}`,
    apiKey: environment.API_KEYS[0],
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const filenames = await ingestSampleDocuments(options);
      if (filenames.length > 0) console.log(`ingested the sample documents: ${filenames.join(', ')}`);
      return;
    } catch (error) {
      if (attempt % reportEvery === 0)
        console.error(`The sample documents could not be ingested yet: ${String(error)}`);
      await delay(retryMs);
    }
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof EnvironmentError ? error.message : error);
  process.exitCode = 1;
});
