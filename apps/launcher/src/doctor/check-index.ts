import type { DatabaseFacts } from '#storage';
import type { LauncherEnvironment } from '../environment.js';
import { reachableHost } from '../service-ports.js';
import type { ModelFacts } from './check-models.js';
import { fail, ok, reasonOf, warn, type Finding } from './finding.js';

/** What the other checks have found out. */
export interface KnownFacts {
  database?: DatabaseFacts;
  embedding?: ModelFacts;
  running: ReadonlySet<string>;
}

/** The index: has it documents, and are their vectors as wide as the model's? */
export async function checkIndex(environment: LauncherEnvironment, known: KnownFacts): Promise<Finding[]> {
  const { database, embedding } = known;
  const documents = database?.documents ?? (await countOverHttp(environment, known));
  if (documents === undefined) return [];
  if (typeof documents !== 'number') return [documents];
  if (documents === 0)
    return [
      warn('index', 'is empty, so no question finds an answer', 'ingest documents: POST /v1/dataprep/ingest'),
    ];
  const [width] = database?.widths ?? [];
  if (width === undefined || embedding?.width === undefined || width === embedding.width)
    return [
      ok('index', `${documents} documents${width === undefined ? '' : `, vectors of ${width} dimensions`}`),
    ];
  return [
    fail(
      'index',
      `its vectors have ${width} dimensions, the embedding model makes ${embedding.width}`,
      'set EMBEDDING_MODEL_ID to the model of the index, or delete all documents and ingest them again',
    ),
  ];
}

/** The embedded database is reached by its services alone. */
async function countOverHttp(
  { SERVICES_HOST, DATAPREP_PORT, API_KEYS }: LauncherEnvironment,
  { running }: KnownFacts,
): Promise<number | Finding | undefined> {
  if (!running.has('dataprep')) return undefined;
  try {
    const answer = await fetch(`http://${reachableHost(SERVICES_HOST)}:${DATAPREP_PORT}/v1/dataprep/get`, {
      method: 'POST',
      headers: API_KEYS[0] ? { authorization: `Bearer ${API_KEYS[0]}` } : {},
      signal: AbortSignal.timeout(10_000),
    });
    if (answer.ok) return ((await answer.json()) as unknown[]).length;
    return fail('index', `dataprep answers ${answer.status}`, 'look into the log of dataprep');
  } catch (error) {
    return fail('index', `dataprep does not answer: ${reasonOf(error)}`, 'look into the log of dataprep');
  }
}
