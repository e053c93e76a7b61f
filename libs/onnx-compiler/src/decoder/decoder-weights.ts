import type { DecoderShape } from './decoder-config.js';
import { type LinearWeights, linearWeights, matrix } from '../checkpoint/weights.js';
import type { Matrix } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';

/** Weights of one decoder layer. */
export interface DecoderLayerWeights {
  readonly attentionNorm: Matrix;
  /** Query, key and value stacked. */
  readonly queryKeyValue: LinearWeights;
  /** Qwen3: RMS norm of each query and key head. */
  readonly queryNorm?: Matrix;
  readonly keyNorm?: Matrix;
  readonly output: LinearWeights;
  /** Gemma: norms of what the blocks give, before it is added. */
  readonly attentionOutputNorm?: Matrix;
  readonly feedForwardOutputNorm?: Matrix;
  readonly feedForwardNorm: Matrix;
  /** Gate and up stacked. */
  readonly gateUp: LinearWeights;
  readonly down: LinearWeights;
}

/** The tensors of a checkpoint with Llama's architecture, by role. */
export class DecoderWeights {
  constructor(
    private readonly reader: SafetensorsReader,
    private readonly shape: DecoderShape,
  ) {}

  /** `[vocabulary, hidden]`. Some checkpoints store a tied matrix under the output's name. */
  embedding(): Matrix {
    const name = 'model.embed_tokens.weight';
    return this.reader.has(name) || !this.shape.tiedEmbeddings
      ? this.tensor(name)
      : this.tensor('lm_head.weight');
  }

  /** `[vocabulary, hidden]` of the output layer. */
  languageModelHead(): Matrix {
    return this.shape.tiedEmbeddings ? this.embedding() : this.tensor('lm_head.weight');
  }

  finalNorm(): Matrix {
    return this.tensor('model.norm.weight');
  }

  layer(index: number): DecoderLayerWeights {
    const prefix = `model.layers.${index}`;
    const attention = `${prefix}.self_attn`;
    const projections = ['q_proj', 'k_proj', 'v_proj'].map((name) => `${attention}.${name}`);
    return {
      attentionNorm: this.tensor(`${prefix}.input_layernorm.weight`),
      queryKeyValue: this.stacked(`${attention}.qkv_proj`, projections),
      queryNorm: this.optional(`${attention}.q_norm.weight`),
      keyNorm: this.optional(`${attention}.k_norm.weight`),
      output: this.stacked(`${attention}.o_proj`, [`${attention}.o_proj`]),
      ...this.blockNorms(prefix),
      gateUp: this.stacked(`${prefix}.mlp.gate_up_proj`, [
        `${prefix}.mlp.gate_proj`,
        `${prefix}.mlp.up_proj`,
      ]),
      down: this.stacked(`${prefix}.mlp.down_proj`, [`${prefix}.mlp.down_proj`]),
    };
  }

  /** In Llama's names the norm after the attention is the norm before the feed-forward block. */
  private blockNorms(prefix: string) {
    const behind = this.tensor(`${prefix}.post_attention_layernorm.weight`);
    if (!this.shape.isGemma) return { feedForwardNorm: behind };
    return {
      attentionOutputNorm: behind,
      feedForwardNorm: this.tensor(`${prefix}.pre_feedforward_layernorm.weight`),
      feedForwardOutputNorm: this.tensor(`${prefix}.post_feedforward_layernorm.weight`),
    };
  }

  private tensor(name: string): Matrix {
    return matrix(this.reader, name);
  }

  private optional(name: string): Matrix | undefined {
    return this.reader.has(name) ? this.tensor(name) : undefined;
  }

  private stacked(name: string, layers: readonly string[]): LinearWeights {
    return linearWeights(this.reader, name, layers, this.shape.packing);
  }
}
