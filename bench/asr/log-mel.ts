/** Compares Whisper's log-mel features of half a minute with those of transformers.js, on the same samples. */
import { WhisperFeatureExtractor } from '@xenova/transformers';
import { WhisperFeatures } from '#engine/speech';
import { interleave } from '../harness/interleave.js';
import { resultTable, table, targetHead, targetRow } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';

const rate = 16_000;
const seconds = 30;
const frames = 3_000;
const pieces = 10;
const names = ['ours', 'transformers.js'] as const;

/** A signal between voice and noise; the work does not depend on its content. */
const samples = Float32Array.from(
  { length: rate * seconds },
  (_, index) => 0.3 * Math.sin(index / 9) * Math.sin(index / 4_000) + 0.01 * Math.sin(index ** 2),
);

export const subject: Subject = {
  async run({ rounds }) {
    const own = new WhisperFeatures(
      { sampling_rate: rate, feature_size: 80, n_fft: 400, hop_length: 160 },
      frames,
    );
    const theirs = new WhisperFeatureExtractor({
      feature_size: 80,
      sampling_rate: rate,
      hop_length: 160,
      n_fft: 400,
      n_samples: samples.length,
      nb_max_frames: frames,
    }) as unknown as (samples: Float32Array) => Promise<unknown>;
    const repeated = async (extract: () => unknown) => {
      for (let piece = 0; piece < pieces; piece++) await extract();
      return pieces * seconds;
    };
    const results = await interleave(
      [
        { name: names[0], run: () => repeated(() => own.extract(samples)) },
        { name: names[1], run: () => repeated(() => theirs(samples)) },
      ],
      Math.max(rounds, 5),
    );
    return [
      '## Log-mel features',
      `Whisper's, of ${seconds} s of audio at a time, in JavaScript on one thread.`,
      resultTable('seconds', results),
      table(targetHead, [targetRow("against transformers.js's", '≥ 3', results, names)]),
    ].join('\n\n');
  },
};
