export { CatalogController } from './catalog.controller.js';
export {
  Dataprep,
  type DataprepJobs,
  type DataprepReembedding,
  type IngestRequest,
  type ListedDocuments,
} from './dataprep.js';
export { IngestController, maxIngestMs, type IngestAnswer } from './ingest.controller.js';
export { cleanFilename, receiveForm, type ReceivedForm } from './multipart-form.js';
export { uploadEnvironmentSchema, uploadLimits, uploadLimitsOf, type UploadLimits } from './upload-limits.js';
export { acceptUrlencodedIngests } from './urlencoded-form.js';
export { collectionField, IngestReceiver } from './ingest-request.js';
