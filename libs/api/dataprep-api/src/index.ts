export { CatalogController } from './catalog.controller.js';
export {
  Dataprep,
  type DataprepJobs,
  type DataprepReembedding,
  type IngestRequest,
  type ListedDocuments,
} from './dataprep.js';
export { IngestController, maxIngestMs, type IngestAnswer } from './ingest.controller.js';
export {
  cleanFilename,
  receiveForm,
  uploadEnvironmentSchema,
  uploadLimits,
  uploadLimitsOf,
  type ReceivedForm,
  type UploadLimits,
} from './multipart-form.js';
export { acceptUrlencodedIngests } from './urlencoded-form.js';
export { collectionField, IngestReceiver } from './ingest-request.js';
