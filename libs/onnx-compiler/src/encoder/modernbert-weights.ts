import type { ModernBertShape } from './encoder-config.js';
import { type LinearWeights, linearWeights, matrix } from '../checkpoint/weights.js';
import type { Matrix, NormWeights } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';

/** Weights of one layer. */
export interface ModernBertLayer {
  /** Absent in the first layer, whose input is normalized already. */
  readonly attentionNorm?: NormWeights;
  /** Query, key and value stacked. */
  readonly queryKeyValue: LinearWeights;
  readonly attentionOutput: LinearWeights;
  readonly feedForwardNorm: NormWeights;
  /** The value that is activated and its gate, stacked. */
  readonly valueGate: LinearWeights;
  readonly down: LinearWeights;
}

/** Tensors of a ModernBERT by role. Models with a head have the prefix `model.`. */
export class ModernBertWeights {
  private readonly prefix: string;

  constructor(
    private readonly reader: SafetensorsReader,
    readonly shape: ModernBertShape,
  ) {
    this.prefix = reader.has('model.embeddings.tok_embeddings.weight') ? 'model.' : '';
  }

  words(): Matrix {
    return matrix(this.reader, `${this.prefix}embeddings.tok_embeddings.weight`);
  }

  embeddingNorm(): NormWeights {
    return this.norm(`${this.prefix}embeddings.norm`);
  }

  finalNorm(): NormWeights {
    return this.norm(`${this.prefix}final_norm`);
  }

  layer(index: number): ModernBertLayer {
    const layer = `${this.prefix}layers.${index}`;
    const attentionNorm = `${layer}.attn_norm`;
    return {
      ...(this.reader.has(`${attentionNorm}.weight`) && { attentionNorm: this.norm(attentionNorm) }),
      queryKeyValue: this.linear(`${layer}.attn.Wqkv`),
      attentionOutput: this.linear(`${layer}.attn.Wo`),
      feedForwardNorm: this.norm(`${layer}.mlp_norm`),
      valueGate: this.linear(`${layer}.mlp.Wi`),
      down: this.linear(`${layer}.mlp.Wo`),
    };
  }

  /** The head of a classifier: a layer, its normalization, and the layer that gives the scores. */
  classifier(): { dense: LinearWeights; norm: NormWeights; output: LinearWeights } {
    return {
      dense: this.linear('head.dense'),
      norm: this.norm('head.norm'),
      output: this.linear('classifier'),
    };
  }

  private linear(name: string): LinearWeights {
    return linearWeights(this.reader, name, [name]);
  }

  private norm(name: string): NormWeights {
    const offset = `${name}.bias`;
    return {
      scale: matrix(this.reader, `${name}.weight`),
      ...(this.reader.has(offset) && { offset: matrix(this.reader, offset) }),
    };
  }
}

/** True for tensors of heads, which not every task needs. */
export function isIgnorableModernBert(name: string): boolean {
  return /^(head|decoder|classifier)\./.test(name);
}
