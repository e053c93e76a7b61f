import { serveWorker } from '#engine/models';
import { DecoderModel } from './decoder-model.js';
import type {
  GenerationEvent,
  GeneratorCall,
  GeneratorReady,
  GeneratorResult,
  GeneratorSettings,
} from './generator-interface.js';

/** Entry point of the thread that owns the decoder session. */
await serveWorker<GeneratorReady, GeneratorCall, GenerationEvent, GeneratorResult>(async (settings) => {
  const model = await DecoderModel.load(settings as GeneratorSettings);
  return {
    dispose: () => model.dispose(),
    ready: model.ready,
    handle: async (call, context) => ({ value: await model.handle(call, context) }),
  };
});
