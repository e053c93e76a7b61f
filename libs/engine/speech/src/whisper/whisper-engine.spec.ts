import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AutoProcessor,
  env,
  LogitsProcessor,
  LogitsProcessorList,
  type Tensor,
  WhisperForConditionalGeneration,
} from '@xenova/transformers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenVocabulary } from '#engine/models';
import { exportModel } from '#engine/onnx-compiler';
import { tinyWhisper, whisperMarks, writeWhisperModel } from '../../../../../test/support/whisper-model.js';
import { foreignTokens } from './foreign-scripts.js';
import { WhisperEngine, type WhisperBackend } from './whisper-engine.js';
import type { WindowTask } from './whisper-sequence.js';
import { openBackend } from './whisper-transcriber.js';
import { readWhisperSettings } from './whisper-settings.js';

const mark = whisperMarks(tinyWhisper);
const firstTimestamp = mark['<|notimestamps|>']! + 1;
let folder: string;
const sessions: WhisperBackend[] = [];

async function openEngine(
  directory: string,
  weights: 'fp32' | 'int8',
  exported?: string,
): Promise<WhisperEngine> {
  const settings = await readWhisperSettings(directory);
  const compiledDirectory = join(folder, 'compiled');
  const kind = exported ? 'auto' : 'compiled';
  const choice = { kind, compiledDirectory, weights, onnxFile: exported } as const;
  const { loaded: session } = await openBackend(directory, choice, { device: 'cpu', threads: 1 }, settings);
  sessions.push(session);
  return new WhisperEngine(session, settings, await TokenVocabulary.load(directory), 3);
}

/** One second at most of a sweep that differs by number. */
function sweep(number: number): Float32Array {
  return Float32Array.from(
    { length: (3 + (number % 8)) * 1_600 },
    (_, n) => 0.4 * Math.sin((n * (100 + 37 * number + n / 40)) / 16_000) * Math.sin(n / (900 + number)),
  );
}

const task = (overrides: Partial<WindowTask> = {}): WindowTask => ({
  samples: sweep(0),
  previous: [],
  language: 'en',
  task: 'transcribe',
  temperatures: [0],
  timestamps: false,
  withAlignment: false,
  signal: new AbortController().signal,
  ...overrides,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-whisper-'));
  await writeWhisperModel(join(folder, 'tiny'), tinyWhisper, { seed: 3 });
});
afterAll(async () => {
  for (const session of sessions) await session.close();
  await rm(folder, { recursive: true, force: true });
});

/** transformers.js leaves out that times never go back and that segments have a length: the reference has that rule. */
class RisingTimes extends LogitsProcessor {
  constructor(private readonly promptLength: number) {
    super();
  }

  override _call(inputs: bigint[][], logits: Tensor): Tensor {
    const tokens = inputs[0]!.slice(this.promptLength).map(Number);
    const times = tokens.filter((token) => token >= firstTimestamp);
    if (times.length === 0) return logits;
    const single = tokens.at(-1)! >= firstTimestamp && (tokens.at(-2) ?? Infinity) < firstTimestamp;
    const [scores] = [...logits] as unknown as { data: Float32Array }[];
    scores!.data.subarray(firstTimestamp, times.at(-1)! + (single ? 0 : 1)).fill(-Infinity);
    return logits;
  }
}

/** transformers.js does not know in which scripts a language is written. */
class OwnScript extends LogitsProcessor {
  constructor(private readonly foreign: readonly number[]) {
    super();
  }

  override _call(_inputs: bigint[][], logits: Tensor): Tensor {
    const [scores] = [...logits] as unknown as { data: Float32Array }[];
    for (const id of this.foreign) scores!.data[id] = -Infinity;
    return logits;
  }
}

describe('WhisperEngine, beside transformers.js with the same weights', () => {
  let theirs: WhisperForConditionalGeneration;
  let processor: Awaited<ReturnType<typeof AutoProcessor.from_pretrained>>;
  let engine: WhisperEngine;
  beforeAll(async () => {
    await exportModel(join(folder, 'tiny'), join(folder, 'exported'));
    env.localModelPath = `${folder}/`;
    const options = { dtype: 'fp32', local_files_only: true } as const;
    theirs = (await WhisperForConditionalGeneration.from_pretrained(
      'exported',
      options,
    )) as WhisperForConditionalGeneration;
    processor = await AutoProcessor.from_pretrained('exported', { local_files_only: true });
    engine = await openEngine(join(folder, 'tiny'), 'fp32');
  }, 60_000);
  afterAll(() => theirs?.dispose());

  async function expected(samples: Float32Array, choice: Partial<WindowTask>): Promise<number[]> {
    const { input_features: inputs } = (await processor(samples)) as { input_features: Tensor };
    const promptLength = choice.timestamps ? 3 : 4;
    const rising = new LogitsProcessorList();
    const written = choice.task === 'translate' ? 'en' : choice.language!;
    const vocabulary = await TokenVocabulary.load(join(folder, 'tiny'));
    rising.push(new OwnScript(foreignTokens(vocabulary, written, mark['<|endoftext|>']!)));
    if (choice.timestamps) rising.push(new RisingTimes(promptLength));
    const output = (await theirs.generate({
      inputs,
      language: choice.language,
      task: choice.task,
      return_timestamps: choice.timestamps,
      max_new_tokens: engine.maxTokens,
      logits_processor: rising,
    } as never)) as Tensor;
    const tokens = Array.from(output.data as BigInt64Array, Number).slice(promptLength);
    return tokens.at(-1) === mark['<|endoftext|>'] ? tokens.slice(0, -1) : tokens;
  }

  it.each([
    [false, 'transcribe'],
    [true, 'transcribe'],
    [true, 'translate'],
  ] as const)(
    'writes the same tokens (timestamps: %s, to %s)',
    { timeout: 60_000 },
    async (timestamps, goal) => {
      const transcript: number[][] = [];
      for (const number of [0, 1, 2, 3, 4, 5]) {
        const choice = { timestamps, task: goal, language: number % 2 ? 'de' : 'en' };
        const samples = sweep(number);
        const { tokens } = await engine.transcribe(task({ ...choice, samples }));
        expect(tokens).toEqual(await expected(samples, choice));
        transcript.push([...tokens]);
      }
      // Not all the same, and with times where these were asked for: the comparison says something.
      expect(new Set(transcript.map(String)).size).toBeGreaterThan(3);
      expect(transcript.every(([first = 0]) => first >= firstTimestamp)).toBe(timestamps);
    },
  );
});

describe('WhisperEngine over the graphs of an exporter', () => {
  it('writes what it writes over its own', async () => {
    const directory = join(folder, 'exported');
    await exportModel(join(folder, 'tiny'), directory);
    const own = await openEngine(join(folder, 'tiny'), 'fp32');
    const file = join(directory, 'onnx', 'decoder_model_merged.onnx');
    const exported = await openEngine(directory, 'fp32', file);
    const tasks = [0, 1, 2, 3].map((number) =>
      task({ samples: sweep(number), timestamps: number > 1, language: number % 2 ? 'de' : undefined }),
    );
    const transcript = await Promise.all(tasks.map((one) => exported.transcribe(one)));
    for (const [index, one] of tasks.entries()) {
      const { tokens, language } = await own.transcribe(one);
      expect(transcript[index]).toMatchObject({ tokens, language });
    }
  });
});

describe('WhisperEngine', () => {
  let engine: WhisperEngine;
  beforeAll(async () => {
    engine = await openEngine(join(folder, 'tiny'), 'int8');
  });

  it('transcribes windows in a batch like single windows', async () => {
    const tasks = [0, 1, 2, 3, 4, 5, 6].map((number) =>
      task({ samples: sweep(number), timestamps: number % 2 === 0, language: number % 3 ? 'fr' : undefined }),
    );
    const together = await Promise.all(tasks.map((one) => engine.transcribe(one)));
    for (const [index, one] of tasks.entries()) expect(await engine.transcribe(one)).toEqual(together[index]);
  });

  it('detects the language, with the same result as when it is given', async () => {
    const found = await engine.transcribe(task({ language: undefined }));
    expect(['en', 'de', 'fr']).toContain(found.language);
    const told = await engine.transcribe(task({ language: found.language }));
    expect(found.tokens).toEqual(told.tokens);
  });

  it('is led by what was said before, as far as there is room', async () => {
    const plain = await engine.transcribe(task());
    const led = await engine.transcribe(task({ previous: [65, 66, 67] }));
    expect(led.tokens).not.toEqual(plain.tokens);
    const long = Array.from({ length: 500 }, (_, index) => 65 + (index % 20));
    const cut = await engine.transcribe(task({ previous: long }));
    expect(cut.tokens).toEqual((await engine.transcribe(task({ previous: long.slice(-23) }))).tokens);
  });

  it('tries improbable text again at higher temperatures, and draws there', async () => {
    const greedy = await engine.transcribe(task());
    // Random weights spread what they say over the vocabulary.
    expect(greedy.avgLogprob).toBeLessThan(-1);
    const drawn = await engine.transcribe(task({ temperatures: [1] }));
    expect(drawn.temperature).toBe(1);
    expect(drawn.tokens).not.toEqual(greedy.tokens);
    // Of attempts that are all improbable the most probable one is the answer, not the last one.
    const best = await engine.transcribe(task({ temperatures: [0, 1] }));
    expect(best.avgLogprob).toBe(Math.max(greedy.avgLogprob, drawn.avgLogprob));
    expect(greedy.logProbabilities).toHaveLength(greedy.tokens.length);
  });

  it('tells where each token looks where that is wanted', async () => {
    const { tokens, alignment } = await engine.transcribe(task({ withAlignment: true }));
    expect(alignment.length).toBeGreaterThanOrEqual(tokens.length - 1);
    const [heads, source] = [2, tinyWhisper.sourcePositions];
    for (const row of alignment) {
      expect(row).toHaveLength(heads * source);
      for (const head of [0, 1])
        expect(row.subarray(head * source, (head + 1) * source).reduce((a, b) => a + b)).toBeCloseTo(1, 4);
    }
  });

  it('keeps silence for silence', async () => {
    await writeWhisperModel(join(folder, 'quiet'), tinyWhisper, { preferred: { '<|nospeech|>': 30 } });
    const quiet = await openEngine(join(folder, 'quiet'), 'fp32');
    const transcript = await quiet.transcribe(task({ temperatures: [0, 1] }));
    expect(transcript.noSpeechProb).toBeGreaterThan(0.9);
    expect(transcript.temperature).toBe(0);
  });

  it('drops a cancelled window and transcribes the others', async () => {
    const leaving = new AbortController();
    const others = [1, 2].map((number) => engine.transcribe(task({ samples: sweep(number) })));
    const left = engine.transcribe(task({ signal: leaving.signal }));
    const late = engine.transcribe(task({ signal: AbortSignal.abort() }));
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
    await expect(late).rejects.toMatchObject({ code: 'cancelled' });
    const [first] = await Promise.all(others);
    expect(first).toEqual(await engine.transcribe(task({ samples: sweep(1) })));
  });
});
