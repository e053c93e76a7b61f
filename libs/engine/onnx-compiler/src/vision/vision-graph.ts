import type { Matrix, NormWeights } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';
import { type LayerWeights, type LinearWeights, linearWeights, matrix } from '../checkpoint/weights.js';
import { activations } from '../encoder/encoder-config.js';
import { GraphBuilder, microsoft, type IntegerKernel } from '../onnx/graph-builder.js';
import type { Graph } from '../onnx/onnx-file.js';
import { type LinearMode, LinearLayers } from '../quantization/linear.js';
import type { VisionShape } from './vision-config.js';

/** Prefixes of the tensors that only the vision tower and its connector need. */
const towerPrefixes = ['model.vision_model.', 'model.connector.'];

/** True for a tensor of the vision tower or its connector. */
export function isVisionTensor(name: string): boolean {
  return towerPrefixes.some((prefix) => name.startsWith(prefix));
}

/** The tensors of a SigLIP vision tower and its connector, by role. */
export class VisionWeights {
  constructor(private readonly reader: SafetensorsReader) {}

  /** Weight `[hidden, 3, patch, patch]` and bias of the convolution that embeds patches. */
  patches(): { weight: Matrix; shape: readonly number[]; bias: Matrix } {
    const name = 'model.vision_model.embeddings.patch_embedding';
    const shape = this.reader.shape(`${name}.weight`);
    return { weight: this.tensor(`${name}.weight`), shape, bias: this.tensor(`${name}.bias`) };
  }

  /** `[patches, hidden]`. */
  positions(): Matrix {
    return this.tensor('model.vision_model.embeddings.position_embedding.weight');
  }

  layer(index: number): LayerWeights {
    const layer = `model.vision_model.encoder.layers.${index}`;
    const attention = `${layer}.self_attn`;
    const projections = ['q_proj', 'k_proj', 'v_proj'].map((part) => `${attention}.${part}`);
    return {
      attentionNorm: this.norm(`${layer}.layer_norm1`),
      queryKeyValue: linearWeights(this.reader, `${attention}.qkv_proj`, projections),
      attentionOutput: this.linear(`${attention}.out_proj`),
      feedForwardNorm: this.norm(`${layer}.layer_norm2`),
      up: this.linear(`${layer}.mlp.fc1`),
      down: this.linear(`${layer}.mlp.fc2`),
    };
  }

  finalNorm(): NormWeights {
    return this.norm('model.vision_model.post_layernorm');
  }

  connector(): LinearWeights {
    return this.linear('model.connector.modality_projection.proj');
  }

  private linear(name: string): LinearWeights {
    return linearWeights(this.reader, name, [name]);
  }

  private norm(name: string): NormWeights {
    return { scale: this.tensor(`${name}.weight`), offset: this.tensor(`${name}.bias`) };
  }

  private tensor(name: string): Matrix {
    return matrix(this.reader, name);
  }
}

/** Options of {@link VisionGraphWriter}. */
export interface VisionGraphOptions {
  readonly linear: LinearMode;
  readonly kernel: IntegerKernel;
}

/** Writes the graph of a vision tower: from the pixels of tiles to embeddings in the text model's space. */
export class VisionGraphWriter {
  private readonly graph: GraphBuilder;
  private readonly linear: LinearLayers;
  /** Patches on one side of a tile. */
  private readonly side: number;

  constructor(
    private readonly shape: VisionShape,
    private readonly weights: VisionWeights,
    options: VisionGraphOptions,
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.linear = new LinearLayers(this.graph, options.linear);
    this.side = Math.floor(shape.tileSize / shape.patchSize);
  }

  write(): Graph {
    const { graph, shape, weights } = this;
    const { tileSize, tokensPerTile, embeddingSize } = shape;
    const pixels = graph.input('pixel_values', 'float32', ['tiles', 3, tileSize, tileSize]);
    let state = this.embedded(pixels);
    for (let index = 0; index < shape.layers; index++) state = this.layer(state, weights.layer(index));
    const joined = this.shuffled(this.norm(state, weights.finalNorm()));
    const embeddings = this.linear.project(joined, weights.connector());
    graph.op('Identity', [embeddings], { output: 'image_embeddings' });
    graph.output('image_embeddings', 'float32', ['tiles', tokensPerTile, embeddingSize]);
    return graph.build('vision');
  }

  /** `[tiles, patches, hidden]`: each patch embedded, and its position added. */
  private embedded(pixels: string): string {
    const { graph, shape, side } = this;
    const { weight, shape: dims, bias } = this.weights.patches();
    const kernel = graph.constant(weight.name, 'float32', dims, () => weight.read());
    const attributes = {
      kernel_shape: [shape.patchSize, shape.patchSize],
      strides: [shape.patchSize, shape.patchSize],
    };
    const grid = graph.op('Conv', [pixels, kernel, graph.vector(bias)], { attributes });
    const flat = graph.op('Reshape', [grid, graph.int64([0, shape.hiddenSize, side * side])]);
    const patches = graph.op('Transpose', [flat], { attributes: { perm: [0, 2, 1] } });
    const table = this.weights.positions();
    const positions = graph.constant(table.name, 'float32', [1, side * side, shape.hiddenSize], () =>
      table.read(),
    );
    return graph.op('Add', [patches, positions]);
  }

  private layer(state: string, weights: LayerWeights): string {
    const { graph, linear, shape } = this;
    const { hiddenSize } = shape;
    const joint = linear.project(this.norm(state, weights.attentionNorm), weights.queryKeyValue);
    const parts = graph.split(joint, [hiddenSize, hiddenSize, hiddenSize], 2);
    const attended = graph.op('MultiHeadAttention', parts, {
      domain: microsoft,
      attributes: { num_heads: shape.heads },
    });
    const middle = graph.op('Add', [state, linear.project(attended, weights.attentionOutput)]);
    const { operator, domain } = activations[shape.activation];
    const up = linear.project(this.norm(middle, weights.feedForwardNorm), weights.up);
    const inner = graph.op(operator, [up], { domain });
    return graph.op('Add', [middle, linear.project(inner, weights.down)]);
  }

  /** Joins each square of patches: `[tiles, patches, hidden]` → `[tiles, tokensPerTile, hidden × shuffle²]`. */
  private shuffled(state: string): string {
    const { graph, side } = this;
    const { shuffle, hiddenSize, tokensPerTile } = this.shape;
    const fewer = side / shuffle;
    const turn = (value: string): string =>
      graph.op('Transpose', [value], { attributes: { perm: [0, 2, 1, 3] } });
    const rows = graph.op('Reshape', [state, graph.int64([-1, side, fewer, hiddenSize * shuffle])]);
    const wide = hiddenSize * shuffle ** 2;
    const columns = graph.op('Reshape', [turn(rows), graph.int64([-1, fewer, fewer, wide])]);
    return graph.op('Reshape', [turn(columns), graph.int64([-1, tokensPerTile, wide])]);
  }

  private norm(value: string, weights: NormWeights): string {
    return this.graph.layerNorm(value, weights, this.shape.normEpsilon);
  }
}
