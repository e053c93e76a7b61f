/**
 * `node dist/samples.js`: ingests the sample documents into the dataprep service of the same container, once. A
 * container with dataprep runs it; `npm start` ingests them itself.
 */
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { EnvironmentError } from '#platform/service-kit';
import { readLauncherEnvironment } from '../environment.js';
import { ingestSampleDocuments } from '../sample-documents.js';

/** Dataprep, embedding and the database may need minutes for their first start. */
const pausesMs = Array<number>(120).fill(5_000);

async function main(): Promise<void> {
  const environment = readLauncherEnvironment(process.env);
  if (!environment.MEGANEST_SAMPLE_DOCUMENTS) return;
  const { ingested, failed } = await ingestSampleDocuments({
    projectDirectory: projectRoot,
    markerPath: join(environment.MEGANEST_DATA_DIR, 'sample-documents.json'),
    dataprepUrl: `http://127.0.0.1:${environment.DATAPREP_PORT}`,
    apiKey: environment.API_KEYS[0],
    pausesMs,
  });
  if (ingested.length > 0) console.log(`ingested the sample documents ${ingested.join(', ')}`);
  for (const { filename, reason } of failed) console.error(`failed ${filename}: ${reason}`);
  if (failed.length > 0)
    console.error(`failed ${failed.length} sample documents; the next start tries them again`);
}

await main().catch((error: unknown) => {
  console.error(error instanceof EnvironmentError ? error.message : error);
  process.exitCode = 1;
});
