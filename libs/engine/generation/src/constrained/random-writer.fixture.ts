import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { GenerationParameters } from '#platform/contracts';
import { readConstraint, GrammarCompiler } from '#engine/grammar';
import { TokenVocabulary, type DecoderConfig } from '#engine/models';
import { compileDecoder, exportDecoder } from '#engine/onnx-compiler';
import { randomTensors, writeCheckpoint } from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { decoderShapes } from '../../../onnx-compiler/src/decoder/reference-decoder.fixture.js';
import type { DecoderBackend } from '../decoder-backend.js';
import { CompiledOnnxBackend } from '../backends/compiled-onnx-backend.js';
import { ExportedOnnxBackend } from '../backends/exported-onnx-backend.js';
import { GenerationScheduler } from '../scheduling/generation-scheduler.js';
import type { GenerationEvent } from '../generator-interface.js';

const marks = ['<unk>', '<s>', '</s>'];
const bytes = Array.from(
  { length: 256 },
  (_unused, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
);
const letters = Array.from({ length: 94 }, (_unused, index) => String.fromCodePoint(0x21 + index));
const pieces =
  '▁ ▁▁ ▁a ▁the ▁{ {" ": ", "} "] }} }, ], [] {} "" true false null name nam id type é ü 日本 😀 \\u \\n 10 123 0. -1 ▁"'.split(
    ' ',
  );
const vocabulary = [...marks, ...bytes, ...letters, ...pieces];

const config = {
  model_type: 'llama',
  // Padded beyond the tokenizer, as many models are.
  vocab_size: 448,
  hidden_size: 48,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 24,
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** The output of a random-weight model; `whole` unless `max_tokens` ended it. */
export interface Writing {
  readonly text: string;
  readonly whole: boolean;
  readonly tokens: number;
  readonly passes: number;
  readonly events: readonly GenerationEvent[];
}

/**
 * A model of random weights with a SentencePiece vocabulary of bytes and some pieces. A bias toward closing JSON
 * tokens makes its texts end.
 */
export class RandomWriter {
  private passes = 0;

  private constructor(
    private readonly folder: string,
    private readonly backend: DecoderBackend,
    private readonly scheduler: GenerationScheduler,
    private readonly grammars: GrammarCompiler,
  ) {
    const decode = backend.decode.bind(backend);
    backend.decode = (items) => {
      this.passes++;
      return decode(items);
    };
  }

  /** @param engine The compiled graph, or an exported one. */
  static async open(engine: 'compiled' | 'exporter' = 'compiled'): Promise<RandomWriter> {
    const folder = await mkdtemp(path.join(tmpdir(), 'random-writer-'));
    await writeCheckpoint(folder, config, randomTensors(decoderShapes(config)));
    const vocab = Object.fromEntries(vocabulary.map((piece, id) => [piece, id]));
    const added = marks.map((content, id) => ({ id, content, special: true }));
    const decoder = {
      type: 'Sequence',
      decoders: [{ type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', start: 1 }],
    };
    const tokenizer = { added_tokens: added, decoder, model: { vocab } };
    await writeFile(path.join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
    const tokens = await TokenVocabulary.load(folder);
    const decoderConfig = {
      vocabularySize: config.vocab_size,
      layers: 1,
      keyValueHeads: 1,
      headDimension: 24,
      contextLength: 4096,
      endTokenIds: [2],
      defaults: { temperature: 1 },
    };
    const backend = await openBackend(folder, decoderConfig, engine);
    const model = { config: decoderConfig, vocabulary: tokens, backend };
    const grammars = new GrammarCompiler(tokens, config.vocab_size, [2]);
    return new RandomWriter(folder, backend, new GenerationScheduler(model, 16), grammars);
  }

  async write(parameters: GenerationParameters): Promise<Writing[]> {
    const { constraint } = parameters;
    const events: GenerationEvent[] = [];
    const before = this.passes;
    const compiled =
      constraint &&
      this.grammars.compile({ key: JSON.stringify(constraint), grammar: readConstraint(constraint) });
    await this.scheduler.run({
      promptIds: [1, 5, 9],
      parameters: { logit_bias: closing, max_tokens: 600, ...parameters },
      constraint: compiled,
      signal: new AbortController().signal,
      emit: (event) => events.push(event),
    });
    return Array.from({ length: parameters.n ?? 1 }, (_unused, choice) => {
      const own = events.filter((event) => event.choice === choice);
      return {
        text: own.map(({ text }) => text).join(''),
        whole: own.at(-1)?.finishReason === 'stop',
        tokens: own.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
        passes: this.passes - before,
        events: own,
      };
    });
  }

  /** Id of a token of the vocabulary. */
  idOf(piece: string): number {
    return vocabulary.indexOf(piece);
  }

  async close(): Promise<void> {
    await this.backend.dispose();
    await rm(this.folder, { recursive: true });
  }
}

async function openBackend(
  folder: string,
  decoder: DecoderConfig,
  engine: 'compiled' | 'exporter',
): Promise<DecoderBackend> {
  const session = { device: 'cpu', threads: 1 } as const;
  if (engine === 'exporter') {
    return ExportedOnnxBackend.load(await exportDecoder(folder, folder, 'fp32'), decoder, session);
  }
  const compiled = await compileDecoder(folder, { cacheDir: folder, weights: 'fp32', kv: 'float' });
  return CompiledOnnxBackend.load(compiled, session, { sequenceBytes: 2 ** 28, prefixBytes: 0 });
}

const closing = Object.fromEntries(
  ['"', '}', ']', '"}', '"]', '",', '</s>'].map((piece) => [String(vocabulary.indexOf(piece)), 5]),
);
