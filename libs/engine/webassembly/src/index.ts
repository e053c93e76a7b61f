export {
  GrowingMemory,
  instantiate,
  isSupported,
  type SharedMemory,
  type WasmModule,
  compileModule,
} from './growing-memory.js';
