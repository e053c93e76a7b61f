/**
 * Compares speech to text with transformers.js's pipeline, for a Whisper model with the shape of tiny and random
 * weights: four files of 29 seconds at the same time, and one alone, 100 tokens each. MegaNest runs one model in each
 * thread, transformers.js runs each operator on all threads; transformers.js gets samples, MegaNest WAV files. Weights
 * are kept in .data/bench.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { env, pipeline } from '@xenova/transformers';
import { pcmWav } from '#platform/foundation';
import { exportModel } from '#engine/onnx-compiler';
import { loadTranscriber, type Transcriber } from '#engine/speech';
import { whisperMarks, writeWhisperModel, type WhisperSizes } from '../../test/support/whisper-model.js';
import { interleave, type Contender } from '../harness/interleave.js';
import { resultTable } from '../harness/markdown.js';
import type { BenchOptions, Subject } from '../harness/subject.js';

/** The shape of Whisper tiny, except for transcripts of half the length: 30 seconds of speech have about 100 tokens. */
const sizes: WhisperSizes = {
  bands: 80,
  hidden: 384,
  layers: 4,
  heads: 6,
  feedForward: 1536,
  sourcePositions: 1500,
  targetPositions: 200,
  textTokens: 50_257,
};
const tokens = sizes.targetPositions / 2;
const folder = path.resolve('.data', 'bench');
const rate = 16_000;
const seconds = 29;
const concurrency = 4;

export const subject: Subject = {
  async run({ threads, rounds }: BenchOptions): Promise<string> {
    const directory = await makeModel();
    const clips = Array.from({ length: concurrency }, (_, number) => clip(number));
    const ours = await loadTranscriber(directory, { cacheDirectory: folder, workers: threads, windows: 4 });
    const others = [
      await peer('transformers.js int8, timestamps', directory, { threads, timestamps: true }),
      await peer('transformers.js int8, no timestamps', directory, { threads, timestamps: false }),
    ];
    const own = { name: 'MegaNest int8, timestamps', hear: (samples: Float32Array) => hear(ours, samples) };
    const contend = (count: number): Contender[] =>
      [own, ...others].map(({ name, hear: write }) => ({
        name,
        run: async () => {
          await Promise.all(clips.slice(0, count).map(write));
          return count * seconds;
        },
      }));
    const atOnce = await interleave(contend(concurrency), rounds);
    const alone = await interleave(contend(1), rounds);
    await ours.close();
    return [
      '## Speech to text: a Whisper model of random weights, of the size of tiny',
      'Seconds of audio in a second (the inverse of the real-time factor), one encoder pass and 100 tokens for each 29 s.',
      `${concurrency} files at the same time:`,
      resultTable('seconds', atOnce),
      'One file alone:',
      resultTable('seconds', alone),
    ].join('\n\n');
  },
};

/**
 * Suppresses further timestamps, so that each file is one window in both engines, and makes the model confident, so
 * that a window is not transcribed twice.
 */
async function makeModel(): Promise<string> {
  const directory = path.join(folder, 'random-whisper-tiny');
  if (existsSync(path.join(directory, 'model.safetensors'))) return directory;
  const first = whisperMarks(sizes)['<|notimestamps|>']! + 1;
  const times = Array.from({ length: sizes.sourcePositions + 1 }, (_, step) => [String(first + step), -200]);
  const end: [string, number] = ['<|endoftext|>', -200];
  const preferred = Object.fromEntries([...times, end]) as Record<string, number>;
  await writeWhisperModel(directory, sizes, { preferred, confidence: 12 });
  return directory;
}

/** Returns noise in syllables, a little different for each number. */
function clip(number: number): Float32Array {
  let state = number + 1;
  return Float32Array.from({ length: seconds * rate }, (_, n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.3 * (state / 2 ** 31 - 1) * (0.6 + 0.4 * Math.sin(n / (600 + 50 * number)));
  });
}

async function hear(transcriber: Transcriber, samples: Float32Array): Promise<void> {
  const segments = [];
  for await (const event of transcriber.transcribe({ audio: wav(samples), language: 'en' }))
    if (event.kind === 'segment') segments.push(event.segment);
  const [segment] = segments;
  if (segments.length !== 1 || segment!.temperature !== 0 || segment!.tokens.length !== tokens - 1)
    throw new Error(`Not one window of ${tokens} tokens at temperature 0: ${JSON.stringify(segments)}`);
}

async function peer(
  name: string,
  directory: string,
  { threads, timestamps }: { threads: number; timestamps: boolean },
) {
  const exported = 'exported-whisper-int8';
  if (!existsSync(path.join(folder, exported, 'onnx', 'decoder_model_merged.onnx')))
    await exportModel(directory, path.join(folder, exported), 'int8');
  env.localModelPath = `${folder}/`;
  const recognize = await pipeline('automatic-speech-recognition', exported, {
    dtype: 'fp32',
    local_files_only: true,
    session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 },
  });
  const options = {
    language: 'en',
    task: 'transcribe',
    return_timestamps: timestamps,
    max_new_tokens: tokens,
  };
  return {
    name,
    hear: async (samples: Float32Array) => {
      await recognize(samples, options);
    },
  };
}

function wav(samples: Float32Array): Uint8Array {
  return pcmWav(
    Int16Array.from(samples, (sample) => Math.round(sample * 32_767)),
    rate,
  );
}
