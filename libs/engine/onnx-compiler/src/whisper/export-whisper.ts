import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { detectIntegerKernel, GraphBuilder } from '../onnx/graph-builder.js';
import { lookUp, LinearLayers } from '../quantization/linear.js';
import { type Graph, writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/safetensors.js';
import { UnsupportedModelError } from '../config-file.js';
import { WhisperBlocks, WhisperEncoderWriter, type WhisperGraphOptions } from './whisper-encoder-graph.js';
import {
  readWhisperShape,
  type WhisperShape,
  type WhisperDecoderLayerWeights,
  WhisperWeights,
  isIgnorable,
} from './whisper-model.js';

const hidden = -1e9;

/**
 * Writes `encoder_model.onnx` and `decoder_model_merged.onnx` into `target` in the form of Hugging Face's exports,
 * so that transformers.js loads them: each run takes and returns the whole past, and a branch for the first tokens
 * computes the keys and values of the audio. It serves comparisons. Returns the decoder's path. Errors:
 * UnsupportedModelError, like compileWhisper.
 */
export async function exportWhisper(
  modelDirectory: string,
  target: string,
  precision: 'fp32' | 'int8',
): Promise<string> {
  const shape = await readWhisperShape(modelDirectory);
  const linear = precision === 'fp32' ? 'fp32' : 'int8-tensor';
  const options = { linear, kernel: await detectIntegerKernel() } as const;
  await withCheckpoint(modelDirectory, (reader) => {
    const weights = new WhisperWeights(reader, shape);
    const graphs = {
      encoder_model: new WhisperEncoderWriter(shape, weights, { ...options, form: 'exporter' }).write(),
      decoder_model_merged: new MergedDecoderWriter(shape, weights, options).write(),
    };
    const write = async () => {
      for (const [name, graph] of Object.entries(graphs)) {
        const files = await writeOnnxFile(target, graph);
        if (files.length > 1)
          throw new UnsupportedModelError('more than 1.9 GB in one graph', modelDirectory);
        await rename(join(target, 'model.onnx'), join(target, `${name}.onnx`));
      }
    };
    return { isIgnorable, write };
  });
  return join(target, 'decoder_model_merged.onnx');
}

/** Both branches of the decoder in one graph over the same constants. */
class MergedDecoderWriter {
  private readonly graph: GraphBuilder;

  constructor(
    private readonly shape: WhisperShape,
    private readonly weights: WhisperWeights,
    private readonly options: WhisperGraphOptions,
  ) {
    this.graph = new GraphBuilder(options.kernel);
  }

  write(): Graph {
    const { graph, shape } = this;
    const { hiddenSize, decoder, vocabularySize } = shape;
    graph.input('input_ids', 'int64', ['batch', 'tokens']);
    graph.input('encoder_hidden_states', 'float32', ['batch', 'source', hiddenSize]);
    const headDim = hiddenSize / decoder.heads;
    const dims = (length: string) => ['batch', decoder.heads, length, headDim];
    for (const name of this.pastNames())
      graph.input(`past_key_values.${name}`, 'float32', dims(name.includes('encoder') ? 'source' : 'past'));
    graph.input('use_cache_branch', 'bool', [1]);
    const outputs = ['logits', ...this.pastNames().map((name) => `present.${name}`)];
    const branches = { yes: this.branch(true), no: this.branch(false) };
    graph.choose('use_cache_branch', branches, outputs);
    graph.output('logits', 'float32', ['batch', 'tokens', vocabularySize]);
    for (const name of this.pastNames())
      graph.output(`present.${name}`, 'float32', dims(name.includes('encoder') ? 'kept' : 'total'));
    return graph.build('whisper-decoder');
  }

  private branch(isCached: boolean): GraphBuilder {
    const graph = this.graph.branch();
    new BranchWriter(graph, this, isCached).write();
    return graph;
  }

  /** Names in the order of the outputs. */
  private pastNames(): string[] {
    return Array.from({ length: this.shape.decoder.layers }, (_, layer) => layer).flatMap((layer) =>
      ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map((part) => `${layer}.${part}`),
    );
  }

  /** The parts that both branches use. */
  get parts() {
    const { shape, weights, options } = this;
    return { shape, weights, options };
  }
}

/** One branch of the decoder: with a past or without. */
class BranchWriter {
  private readonly shape: WhisperShape;
  private readonly weights: WhisperWeights;
  private readonly blocks: WhisperBlocks;
  private readonly presents: string[] = [];

  constructor(
    private readonly graph: GraphBuilder,
    private readonly merged: MergedDecoderWriter,
    private readonly isCached: boolean,
  ) {
    const { shape, weights, options } = merged.parts;
    this.shape = shape;
    this.weights = weights;
    this.blocks = new WhisperBlocks(graph, new LinearLayers(graph, options.linear), shape);
  }

  write(): void {
    const { graph, blocks, shape, weights } = this;
    const { options } = this.merged.parts;
    const { positions, mask } = this.positions();
    const tokens = lookUp(graph, weights.embedding(), 'input_ids', options.linear);
    let state = graph.op('Add', [tokens, lookUp(graph, weights.positions('decoder'), positions, 'fp32')]);
    for (let index = 0; index < shape.decoder.layers; index++)
      state = this.layer(index, state, weights.decoderLayer(index), mask);
    const normed = blocks.norm(state, weights.finalNorm('decoder'));
    const logits = graph.op('Identity', [blocks.linear.multiply(normed, weights.embedding())]);
    graph.output(logits, 'float32', ['batch', 'tokens', shape.vocabularySize]);
    const headDim = shape.hiddenSize / shape.decoder.heads;
    // Lengths have different names, because the runtime treats dimensions of one name as equal.
    for (const present of this.presents)
      graph.output(present, 'float32', ['batch', shape.decoder.heads, `length of ${present}`, headDim]);
  }

  /** int64 `[tokens]`, and the causal mask `[tokens, total]`: 0 where a token may attend. */
  private positions(): { positions: string; mask: string } {
    const { graph } = this;
    const length = (value: string, axis: number): string =>
      graph.op('Gather', [graph.op('Shape', [value]), graph.int64Scalar(axis)]);
    const past = this.isCached ? length('past_key_values.0.decoder.key', 2) : graph.int64Scalar(0);
    const total = graph.op('Add', [past, length('input_ids', 1)]);
    const range = (start: string): string => graph.op('Range', [start, total, graph.int64Scalar(1)]);
    const positions = range(past);
    const rows = graph.op('Unsqueeze', [positions, graph.int64([1])]);
    const isVisible = graph.op('LessOrEqual', [range(graph.int64Scalar(0)), rows]);
    return { positions, mask: graph.op('Where', [isVisible, graph.float(0), graph.float(hidden)]) };
  }

  private layer(index: number, state: string, weights: WhisperDecoderLayerWeights, mask: string): string {
    const { graph, blocks } = this;
    const [query = '', key = '', value = ''] = blocks.selfProjections(state, weights);
    const keys = this.withPast(`${index}.decoder.key`, this.split(key));
    const values = this.withPast(`${index}.decoder.value`, this.split(value));
    const own = this.attend(query, { keys, values }, mask);
    const middle = graph.op('Add', [state, blocks.linear.project(own, weights.attentionOutput)]);
    const crossQuery = blocks.linear.project(blocks.norm(middle, weights.crossNorm), weights.crossQuery);
    const crossAttended = this.attend(crossQuery, this.audio(index));
    const crossAttendedSum = graph.op('Add', [
      middle,
      blocks.linear.project(crossAttended, weights.crossOutput),
    ]);
    return blocks.feedForward(crossAttendedSum, weights);
  }

  private split(value: string): string {
    return this.blocks.splitHeads(value, this.shape.decoder.heads);
  }

  private withPast(name: string, added: string): string {
    const { graph } = this;
    const past = `past_key_values.${name}`;
    const all = this.isCached
      ? graph.op('Concat', [past, added], { attributes: { axis: 2 } })
      : graph.op('Identity', [added]);
    this.presents.push(all);
    return all;
  }

  /** Keys and values of the audio: taken from the past, which is not returned again, or computed here. */
  private audio(index: number): { keys: string; values: string } {
    const { graph, shape } = this;
    if (this.isCached) {
      const dims = [0, shape.decoder.heads, 1, shape.hiddenSize / shape.decoder.heads];
      const nothing = graph.constant('nothing', 'float32', dims, () => new Float32Array());
      this.presents.push(graph.op('Identity', [nothing]), graph.op('Identity', [nothing]));
      const past = `past_key_values.${index}.encoder`;
      return { keys: `${past}.key`, values: `${past}.value` };
    }
    const joint = this.blocks.linear.project('encoder_hidden_states', this.weights.crossKeyValue([index]));
    const parts = graph.split(joint, [shape.hiddenSize, shape.hiddenSize], 2);
    const [keys = '', values = ''] = parts.map((part) => this.split(part));
    this.presents.push(keys, values);
    return { keys, values };
  }

  private attend(query: string, { keys, values }: { keys: string; values: string }, mask?: string): string {
    const { graph } = this;
    const transposed = graph.op('Transpose', [keys], { attributes: { perm: [0, 1, 3, 2] } });
    const products = graph.op('MatMul', [this.split(query), transposed]);
    const scores = mask ? graph.op('Add', [products, mask]) : products;
    const attention = graph.op('Softmax', [scores], { attributes: { axis: -1 } });
    return this.blocks.mergeHeads(graph.op('MatMul', [attention, values]));
  }
}
