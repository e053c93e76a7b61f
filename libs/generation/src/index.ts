export {
  type ChatTemplate,
  type EngineLoad,
  type GenerateRequest,
  type GenerationEvent,
  type Generator,
} from './generator-interface.js';
export { loadGenerator } from './generator.js';
