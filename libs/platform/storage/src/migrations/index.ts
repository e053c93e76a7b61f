import type { StorageMigration } from './storage-migration.js';
import { documentsChunksJobs } from './0001-documents-chunks-jobs.js';
import { responses } from './0002-responses.js';
import { documentsInParts } from './0003-documents-in-parts.js';
import { storedCompletions } from './0004-stored-completions.js';
import { filesAndVectorStores } from './0005-files-and-vector-stores.js';
import { secrets } from './0006-secrets.js';
import { documentOwners } from './0007-document-owners.js';
import { bytesBeingWritten } from './0008-bytes-being-written.js';
import { userRecords } from './0009-user-records.js';
import { jobsThatGoOn } from './0010-jobs-that-go-on.js';
import { bytesOfOwners } from './0011-bytes-of-owners.js';
import { chunksInOrderOfArrival } from './0012-chunks-in-order-of-arrival.js';
import { vectorsBesideTheirChunks } from './0013-vectors-beside-their-chunks.js';
import { sharedByGateways } from './0014-shared-by-gateways.js';
import { wordsOfCollections } from './0015-words-of-collections.js';
import { jobsThatWait } from './0016-jobs-that-wait.js';
import { documentsOfJobs } from './0017-documents-of-jobs.js';
import { modelsOfCollections } from './0018-models-of-collections.js';
import { citedPassages } from './0019-cited-passages.js';
import { clientsOfJobs } from './0021-clients-of-jobs.js';
import { readingReports } from './0022-reading-reports.js';

/** Every migration, oldest first. They are modules instead of .sql files, so that the build includes them. */
export const migrations: readonly StorageMigration[] = [
  documentsChunksJobs,
  responses,
  documentsInParts,
  storedCompletions,
  filesAndVectorStores,
  secrets,
  documentOwners,
  bytesBeingWritten,
  userRecords,
  jobsThatGoOn,
  bytesOfOwners,
  chunksInOrderOfArrival,
  vectorsBesideTheirChunks,
  sharedByGateways,
  wordsOfCollections,
  jobsThatWait,
  documentsOfJobs,
  modelsOfCollections,
  citedPassages,
  clientsOfJobs,
  readingReports,
];
