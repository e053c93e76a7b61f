import { z } from 'zod';
import type { Matrix, NormWeights } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';
import { type LayerWeights, type LinearWeights, matrix, stack } from '../checkpoint/weights.js';
import { parseConfig, readConfig, UnsupportedModelError } from '../config-file.js';
import { type Activation, activations } from '../encoder/encoder-config.js';

/** One of the two layer stacks of a Whisper model. */
interface WhisperStack {
  readonly layers: number;
  readonly heads: number;
}

/** The parts of a Whisper model's config.json that determine its graphs. */
export interface WhisperShape {
  /** Mel bands of a frame. */
  readonly bands: number;
  /** Encoder states per audio window; the encoder takes twice as many frames. */
  readonly sourcePositions: number;
  /** Maximum tokens of a transcript, including its prompt. */
  readonly targetPositions: number;
  readonly hiddenSize: number;
  readonly encoder: WhisperStack;
  readonly decoder: WhisperStack;
  readonly vocabularySize: number;
  readonly activation: Activation;
}

const size = z.int().positive();
const configSchema = z.looseObject({
  model_type: z.literal('whisper'),
  num_mel_bins: size,
  max_source_positions: size,
  max_target_positions: size,
  d_model: size,
  encoder_layers: size,
  encoder_attention_heads: size,
  decoder_layers: size,
  decoder_attention_heads: size,
  vocab_size: size,
  activation_function: z.enum(Object.keys(activations) as [Activation]).default('gelu'),
  scale_embedding: z.literal(false).default(false),
  quantization_config: z.undefined().optional(),
});

/** Reads the config.json of a Whisper model. Errors: UnsupportedModelError for any other model. */
export async function readWhisperShape(modelDirectory: string): Promise<WhisperShape> {
  const stored = await readConfig(modelDirectory);
  const config = parseConfig(configSchema, stored, modelDirectory, 'a Whisper');
  if (config.d_model % config.encoder_attention_heads || config.d_model % config.decoder_attention_heads)
    throw new UnsupportedModelError('heads that do not divide d_model', modelDirectory);
  return {
    bands: config.num_mel_bins,
    sourcePositions: config.max_source_positions,
    targetPositions: config.max_target_positions,
    hiddenSize: config.d_model,
    encoder: { layers: config.encoder_layers, heads: config.encoder_attention_heads },
    decoder: { layers: config.decoder_layers, heads: config.decoder_attention_heads },
    vocabularySize: config.vocab_size,
    activation: config.activation_function,
  };
}

/** Weights that the layers of both stacks have; the queries are scaled for the attention. */
export type WhisperLayerWeights = LayerWeights;

/** A decoder layer also attends to the encoder's states. */
export interface WhisperDecoderLayerWeights extends WhisperLayerWeights {
  readonly crossNorm: NormWeights;
  /** Scaled for the attention. */
  readonly crossQuery: LinearWeights;
  readonly crossOutput: LinearWeights;
}

/** The tensors of a Whisper checkpoint, by role. Names may have a prefix, the class name in PyTorch. */
export class WhisperWeights {
  private readonly prefix: string;

  constructor(
    private readonly reader: SafetensorsReader,
    private readonly shape: WhisperShape,
  ) {
    this.prefix = reader.has('model.encoder.conv1.weight') ? 'model.' : '';
  }

  /** Weight `[outputs, inputs, 3]` and bias of one of the encoder's two convolutions. */
  convolution(index: 1 | 2): { weight: Matrix; shape: readonly number[]; bias: Matrix } {
    const name = `${this.prefix}encoder.conv${index}`;
    const shape = this.reader.shape(`${name}.weight`);
    return {
      weight: matrix(this.reader, `${name}.weight`),
      shape,
      bias: matrix(this.reader, `${name}.bias`),
    };
  }

  positions(part: 'encoder' | 'decoder'): Matrix {
    return this.tensor(`${part}.embed_positions.weight`);
  }

  /** `[vocabulary, hidden]`, of input and output. */
  embedding(): Matrix {
    return this.tensor('decoder.embed_tokens.weight');
  }

  finalNorm(part: 'encoder' | 'decoder'): NormWeights {
    return this.norm(`${part}.layer_norm`);
  }

  encoderLayer(index: number): WhisperLayerWeights {
    return this.layer(`encoder.layers.${index}`, this.queryScale('encoder'));
  }

  decoderLayer(index: number): WhisperDecoderLayerWeights {
    const name = `decoder.layers.${index}`;
    const queryScale = this.queryScale('decoder');
    return {
      ...this.layer(name, queryScale),
      crossNorm: this.norm(`${name}.encoder_attn_layer_norm`),
      crossQuery: scaled(this.linear(`${name}.encoder_attn.q_proj`), queryScale),
      crossOutput: this.linear(`${name}.encoder_attn.out_proj`),
    };
  }

  /** The layers that compute cross-attention keys and values of the given decoder layers, stacked. */
  crossKeyValue(layers: readonly number[]): LinearWeights {
    const parts = layers.flatMap((layer) =>
      ['k_proj', 'v_proj'].map((part) => this.linear(`decoder.layers.${layer}.encoder_attn.${part}`)),
    );
    return stacked(`cross.${layers.join('_')}.kv`, parts);
  }

  /** Multiplies the query weights, so that the attention does not need a scale: 1 / √headDim. */
  private queryScale(part: 'encoder' | 'decoder'): number {
    return (this.shape.hiddenSize / this.shape[part].heads) ** -0.5;
  }

  private layer(name: string, queryScale: number): WhisperLayerWeights {
    const attention = `${name}.self_attn`;
    const query = scaled(this.linear(`${attention}.q_proj`), queryScale);
    const others = ['k_proj', 'v_proj'].map((part) => this.linear(`${attention}.${part}`));
    return {
      attentionNorm: this.norm(`${name}.self_attn_layer_norm`),
      queryKeyValue: stacked(`${attention}.qkv`, [query, ...others]),
      attentionOutput: this.linear(`${attention}.out_proj`),
      feedForwardNorm: this.norm(`${name}.final_layer_norm`),
      up: this.linear(`${name}.fc1`),
      down: this.linear(`${name}.fc2`),
    };
  }

  private linear(name: string): LinearWeights {
    const full = this.prefix + name;
    const weight = matrix(this.reader, `${full}.weight`);
    const bias = `${full}.bias`;
    return this.reader.has(bias) ? { weight, bias: matrix(this.reader, bias) } : { weight };
  }

  private norm(name: string): NormWeights {
    return { scale: this.tensor(`${name}.weight`), offset: this.tensor(`${name}.bias`) };
  }

  private tensor(name: string): Matrix {
    return matrix(this.reader, this.prefix + name);
  }
}

/** True for the output matrix, if a checkpoint stores the tied matrix twice. */
export function isIgnorable(name: string): boolean {
  return name === 'proj_out.weight';
}

/** Stacks layers with the same input; keys do not have a bias, so zeros are used for it. */
function stacked(name: string, parts: readonly LinearWeights[]): LinearWeights {
  const biases = parts.map(({ weight, bias }) => bias ?? zeros(weight.rows));
  return {
    weight: stack(
      `${name}.weight`,
      parts.map(({ weight }) => weight),
    ),
    bias: stack(`${name}.bias`, biases),
  };
}

function zeros(rows: number): Matrix {
  return { name: 'zeros', rows, columns: 1, read: () => Promise.resolve(new Float32Array(rows)) };
}

function scaled({ weight, bias }: LinearWeights, factor: number): LinearWeights {
  return { weight: multiplied(weight, factor), ...(bias && { bias: multiplied(bias, factor) }) };
}

/** Only `read` multiplies: other ways to read the source would return its own values. */
function multiplied({ name, rows, columns, read }: Matrix, factor: number): Matrix {
  return { name, rows, columns, read: async () => (await read()).map((value) => value * factor) };
}
