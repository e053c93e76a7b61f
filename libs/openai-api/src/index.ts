export {
  embeddingRequestSchema,
  embeddingResponse,
  type EmbeddingRequest,
  type EmbeddingResponse,
} from './embeddings.js';
export { modelList, modelObject, type Model } from './models.js';
