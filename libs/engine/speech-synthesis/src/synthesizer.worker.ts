import { setImmediate } from 'node:timers/promises';
import { FairTurns } from '#platform/foundation';
import { serveWorker, type CallContext } from '#engine/models';
import { Resampler } from '#engine/speech';
import { createSpeechEncoder, speechSampleRate } from './encode-speech.js';
import { Flite, fliteSampleRate } from './flite.js';
import type { SynthesizerCall, SynthesizerEvent } from './flite-synthesizer.js';

/** One piece at a time. The clients take turns by the time of their pieces. */
const turns = new FairTurns({
  service: 'tts',
  what: 'texts',
  slots: 1,
  slotsOfOne: 1,
  waitingOfOne: 1_000,
});

/** Speaks and encodes one text piece by piece; other texts of this thread take turns with it between two pieces. */
async function speak(
  flite: Flite,
  { client, pieces, voice, speed, format }: SynthesizerCall,
  context: CallContext<SynthesizerEvent>,
): Promise<void> {
  const encoder = await createSpeechEncoder(format);
  try {
    for (const piece of pieces) {
      await setImmediate();
      if (context.signal.aborted) return;
      const speakPiece = async () => {
        const samples = flite.speak(piece, voice, speed);
        const resampler = new Resampler(fliteSampleRate, speechSampleRate);
        const seconds = samples.length / fliteSampleRate;
        const first = await encoder.push(resampler.push(samples));
        const second = await encoder.push(resampler.finish());
        context.emit({ bytes: Buffer.concat([first, second]), seconds });
      };
      await turns.run(speakPiece, { client });
    }
    context.emit({ bytes: await encoder.finish(), seconds: 0 });
  } finally {
    encoder.close();
  }
}

/** Entry point of a speech thread. */
await serveWorker<undefined, SynthesizerCall, SynthesizerEvent, undefined>(async () => {
  const flite = await Flite.load();
  return {
    ready: undefined,
    dispose: () => Promise.resolve(),
    handle: async (call, context) => {
      await speak(flite, call, context);
      return { value: undefined };
    },
  };
});
