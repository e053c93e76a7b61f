import { serveWorker } from '#engine/models';
import type { EncoderItem, EncoderReady, EncoderResult, EncoderSettings } from './encoder-pool.js';
import { EncoderModel } from './encoder-model.js';

/** Entry point of a thread that owns one encoder session. The first run also warms up the session. */
await serveWorker<EncoderReady, readonly EncoderItem[], never, EncoderResult>(async (data) => {
  const settings = data as EncoderSettings;
  const model = await EncoderModel.load(settings);
  const sample: EncoderItem =
    settings.task === 'rerank' ? { query: 'a', passage: 'b', truncate: true } : { text: 'a', truncate: true };
  const { width } = await model.run([sample]);
  return {
    dispose: () => model.dispose(),
    ready: { ...model.choice, width },
    handle: async (items) => {
      const { outcomes, rows } = await model.run(items);
      return { value: { outcomes, rows }, transfer: [rows.buffer as ArrayBuffer] };
    },
  };
});
