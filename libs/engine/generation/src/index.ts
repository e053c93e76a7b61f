export {
  type ChatTemplate,
  type EngineLoad,
  type GenerateRequest,
  type GenerationEvent,
  type Generator,
  type TokenCodec,
} from './generator-interface.js';
export { loadGenerator } from './generator.js';
