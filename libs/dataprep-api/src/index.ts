export { CatalogueController } from './catalogue.controller.js';
export { Dataprep, type IngestRequest, type ListedDocuments } from './dataprep.js';
export { IngestController, type IngestAnswer } from './ingest.controller.js';
export { cleanFilename, receiveForm, type ReceivedForm } from './multipart-form.js';
export { IngestReceiver } from './ingest-receiver.js';
export { uploadEnvironmentSchema, uploadLimits, uploadLimitsOf, type UploadLimits } from './upload-limits.js';
