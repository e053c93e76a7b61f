import { serveWorker } from '#models';
import { openModel } from './open-model.js';
import type { TranscriptEvent } from './transcriber-interface.js';
import type { TranscriberCall, TranscriberReady, TranscriberSettings } from './transcriber-messages.js';

/** Entry point of a thread that decodes audio and owns a session of the speech model. */
await serveWorker<TranscriberReady, TranscriberCall, TranscriptEvent, undefined>(async (settings) => {
  const model = await openModel(settings as TranscriberSettings);
  return {
    dispose: () => model.close(),
    ready: model.ready,
    handle: async (call, context) => {
      await model.transcribe(call, context);
      return { value: undefined };
    },
  };
});
