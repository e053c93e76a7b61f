import type { EncoderShape } from './encoder-config.js';
import { type LinearWeights, linearWeights, matrix } from '../checkpoint/weights.js';
import type { Matrix, NormWeights } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';

/** Weights of one encoder layer. */
export interface EncoderLayerWeights {
  readonly query: LinearWeights;
  readonly key: LinearWeights;
  readonly value: LinearWeights;
  readonly attentionOutput: LinearWeights;
  readonly attentionNorm: NormWeights;
  readonly up: LinearWeights;
  readonly down: LinearWeights;
  readonly outputNorm: NormWeights;
}

/**
 * The tensors of a checkpoint with BERT's architecture, by role. Names may have a prefix, the class name in
 * PyTorch.
 */
export class EncoderWeights {
  private readonly prefix: string;

  constructor(
    private readonly reader: SafetensorsReader,
    private readonly shape: EncoderShape,
  ) {
    const word = 'embeddings.word_embeddings.weight';
    const prefixes = ['', 'bert.', 'roberta.'];
    this.prefix = prefixes.find((prefix) => reader.has(prefix + word)) ?? '';
  }

  words(): Matrix {
    return this.tensor('embeddings.word_embeddings.weight');
  }

  positions(): Matrix {
    return this.tensor('embeddings.position_embeddings.weight');
  }

  segments(): Matrix {
    return this.tensor('embeddings.token_type_embeddings.weight');
  }

  embeddingNorm(): NormWeights {
    return this.norm('embeddings.LayerNorm');
  }

  layer(index: number): EncoderLayerWeights {
    const layer = `encoder.layer.${index}`;
    const attention = `${layer}.attention`;
    return {
      query: this.linear(`${attention}.self.query`),
      key: this.linear(`${attention}.self.key`),
      value: this.linear(`${attention}.self.value`),
      attentionOutput: this.linear(`${attention}.output.dense`),
      attentionNorm: this.norm(`${attention}.output.LayerNorm`),
      up: this.linear(`${layer}.intermediate.dense`),
      down: this.linear(`${layer}.output.dense`),
      outputNorm: this.norm(`${layer}.output.LayerNorm`),
    };
  }

  /** The two layers, with a tanh between them, that compute class scores from the first token's vector. */
  classifier(): { dense: LinearWeights; output: LinearWeights } {
    if (this.shape.family === 'roberta')
      return { dense: this.head('classifier.dense'), output: this.head('classifier.out_proj') };
    return { dense: this.linear('pooler.dense'), output: this.head('classifier') };
  }

  /** True for tensors that neither embedding nor classification needs. */
  isIgnorable(name: string): boolean {
    return /(^|\.)(pooler|cls|lm_head|classifier)\.|position_ids$/.test(name);
  }

  private linear(name: string): LinearWeights {
    return linearWeights(this.reader, name, [this.prefix + name]);
  }

  private head(name: string): LinearWeights {
    return linearWeights(this.reader, name, [name]);
  }

  private norm(name: string): NormWeights {
    return { scale: this.tensor(`${name}.weight`), offset: this.tensor(`${name}.bias`) };
  }

  private tensor(name: string): Matrix {
    return matrix(this.reader, this.prefix + name);
  }
}
