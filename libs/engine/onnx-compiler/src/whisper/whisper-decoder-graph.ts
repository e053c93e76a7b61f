import { ExternalKvAttention } from '../decoder/external-kv-attention.js';
import { lookUp, LinearLayers } from '../quantization/linear.js';
import { GraphBuilder, microsoft } from '../onnx/graph-builder.js';
import type { Graph } from '../onnx/onnx-file.js';
import { WhisperBlocks, type WhisperGraphOptions } from './whisper-encoder-graph.js';
import type { WhisperShape, WhisperDecoderLayerWeights, WhisperWeights } from './whisper-model.js';

/** An attention head of the decoder. */
export type AttentionHead = readonly [layer: number, head: number];

/** Writes the decoder's serving graph; see CompiledWhisper for its inputs and outputs. */
export class WhisperDecoderWriter {
  private readonly graph: GraphBuilder;
  private readonly blocks: WhisperBlocks;
  /** Attention of the alignment heads, `[B, heads of the layer, S, T]`. */
  private readonly alignment: string[] = [];

  constructor(
    private readonly shape: WhisperShape,
    private readonly weights: WhisperWeights,
    private readonly options: WhisperGraphOptions & { readonly alignmentHeads: readonly AttentionHead[] },
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.blocks = new WhisperBlocks(this.graph, new LinearLayers(this.graph, options.linear), shape);
  }

  write(): Graph {
    const { graph, blocks, shape, weights, options } = this;
    const inputIds = graph.input('input_ids', 'int64', ['batch', 'tokens']);
    const attention = new ExternalKvAttention(graph, this.attentionShape(), 'float', inputIds);
    const tokens = lookUp(graph, weights.embedding(), inputIds, options.linear);
    const positions = lookUp(graph, weights.positions('decoder'), attention.positions, 'fp32');
    let state = graph.op('Add', [tokens, positions]);
    for (let index = 0; index < shape.decoder.layers; index++)
      state = this.layer(index, state, weights.decoderLayer(index), attention);
    const normed = blocks.norm(attention.selectRows(state), weights.finalNorm('decoder'));
    const logits = blocks.linear.multiply(normed, weights.embedding());
    const output = 'log_probabilities';
    attention.declareOutputs(graph.op('LogSoftmax', [logits], { attributes: { axis: -1 }, output }));
    this.declareAlignment();
    return graph.build('whisper-decoder');
  }

  /** The queries are scaled already, so the attention's scale is 1. */
  private attentionShape() {
    const { hiddenSize, targetPositions, vocabularySize, decoder } = this.shape;
    const { layers, heads } = decoder;
    const common = { hiddenSize, layers, heads, kvHeads: heads, vocabularySize, scale: 1 };
    return { ...common, headDim: hiddenSize / heads, contextLength: targetPositions };
  }

  private layer(
    index: number,
    state: string,
    weights: WhisperDecoderLayerWeights,
    attention: ExternalKvAttention,
  ): string {
    const { graph, blocks } = this;
    const own = attention.attend(index, { joint: blocks.jointProjection(state, weights) });
    const middle = graph.op('Add', [state, blocks.linear.project(own, weights.attentionOutput)]);
    const crossAttended = this.crossAttended(
      index,
      blocks.linear.project(blocks.norm(middle, weights.crossNorm), weights.crossQuery),
    );
    const crossAttendedSum = graph.op('Add', [
      middle,
      blocks.linear.project(crossAttended, weights.crossOutput),
    ]);
    return blocks.feedForward(crossAttendedSum, weights);
  }

  /** Cross-attention: `[B, S, hidden]` queries over the keys and values of the encoder's graph. */
  private crossAttended(index: number, query: string): string {
    const { graph, blocks, shape } = this;
    const { heads } = shape.decoder;
    const dims = ['batch', heads, shape.sourcePositions, shape.hiddenSize / heads];
    const keys = graph.input(`cross.${index}.key`, 'float32', dims);
    const values = graph.input(`cross.${index}.value`, 'float32', dims);
    const scores = graph.op('FusedMatMul', [blocks.splitHeads(query, heads), keys], {
      domain: microsoft,
      attributes: { transB: 1, alpha: { float: 1 } },
    });
    const attention = graph.op('Softmax', [scores], { attributes: { axis: -1 } });
    this.keepAlignment(index, attention);
    return blocks.mergeHeads(graph.op('MatMul', [attention, values]));
  }

  private keepAlignment(layer: number, attention: string): void {
    const { graph } = this;
    const heads = this.options.alignmentHeads.flatMap(([of, head]) => (of === layer ? [head] : []));
    if (heads.length > 0)
      this.alignment.push(graph.op('Gather', [attention, graph.int64(heads)], { attributes: { axis: 1 } }));
  }

  private declareAlignment(): void {
    const { graph, alignment, shape, options } = this;
    if (alignment.length === 0) return;
    graph.op('Concat', alignment, { attributes: { axis: 1 }, output: 'alignment' });
    const dims = ['batch', options.alignmentHeads.length, 'tokens', shape.sourcePositions];
    graph.output('alignment', 'float32', dims);
  }
}
