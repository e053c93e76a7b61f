import { readFile } from 'node:fs/promises';
import { type FixtureTensor, type FixtureTensors } from '../checkpoint/checkpoint.fixture.js';
import { readAll, readFields } from '../onnx/protobuf.js';

interface ExportedNode {
  readonly operator: string;
  readonly inputs: readonly string[];
}

const text = new TextDecoder();
const string = (message: Uint8Array, field: number): string => text.decode(readAll(message, field)[0]);

/** An ONNX TensorProto of float32 or int8 with raw data. */
function tensor(message: Uint8Array): FixtureTensor {
  const shape = [...readFields(message)].flatMap(([key, value]) =>
    key === 1 && typeof value === 'number' ? [value] : [],
  );
  const bytes = Uint8Array.from(readAll(message, 9)[0]!);
  const isInt8 = [...readFields(message)].some(([key, value]) => key === 2 && value === 3);
  return {
    shape,
    values: isInt8 ? Float32Array.from(new Int8Array(bytes.buffer)) : new Float32Array(bytes.buffer),
  };
}

const isReadable = (message: Uint8Array): boolean =>
  [...readFields(message)].some(([key, value]) => key === 2 && (value === 1 || value === 3));

/**
 * Reads the weights of an exported BERT (`nano-embed`, `nano-rerank`) under the names of a checkpoint, exactly as
 * its graph holds them: int8 times scale, matrices transposed to `[outputs, inputs]`, and query, key and value
 * separated.
 */
export async function readExportedEncoder(path: string, prefix: string): Promise<FixtureTensors> {
  const graph = readAll(await readFile(path), 7)[0]!;
  const stored = Object.fromEntries(
    readAll(graph, 5).flatMap((message) =>
      isReadable(message) ? [[string(message, 8), tensor(message)]] : [],
    ),
  );
  const nodes = readAll(graph, 1).map((message) => ({
    operator: string(message, 4),
    inputs: readAll(message, 1).map((input) => text.decode(input)),
  }));
  return new ExportedEncoder(stored, nodes, prefix).read();
}

class ExportedEncoder {
  private readonly tensors: Record<string, FixtureTensor> = {};

  constructor(
    private readonly stored: FixtureTensors,
    private readonly nodes: readonly ExportedNode[],
    private readonly prefix: string,
  ) {}

  read(): FixtureTensors {
    for (const table of ['word_embeddings', 'position_embeddings'])
      this.put(`embeddings.${table}.weight`, this.matrix(table));
    this.put('embeddings.token_type_embeddings.weight', this.stored['token_type_embeddings']!);
    const norms = this.nodes.filter(({ operator }) => operator === 'LayerNormalization');
    this.norm('embeddings.LayerNorm', norms[0]!);
    const layers = (norms.length - 1) / 2;
    for (let index = 0; index < layers; index++) {
      const layer = `encoder.layer.${index}`;
      this.dense(
        `layer.${index}.qkv`,
        ['query', 'key', 'value'].map((part) => `${layer}.attention.self.${part}`),
      );
      this.dense(`layer.${index}.o`, [`${layer}.attention.output.dense`]);
      this.dense(`layer.${index}.up`, [`${layer}.intermediate.dense`]);
      this.dense(`layer.${index}.down`, [`${layer}.output.dense`]);
      this.norm(`${layer}.attention.output.LayerNorm`, norms[1 + 2 * index]!);
      this.norm(`${layer}.output.LayerNorm`, norms[2 + 2 * index]!);
    }
    if (this.stored['pooler_q']) this.classifier();
    return this.tensors;
  }

  private put(name: string, value: FixtureTensor): void {
    this.tensors[this.prefix + name] = value;
  }

  /** A stored int8 matrix times its scale, `[1, columns]` or `[rows, 1]`. */
  private matrix(name: string): FixtureTensor {
    const { shape, values } = this.stored[`${name}_q`]!;
    const scale = this.stored[`${name}_scale`]!;
    const columns = shape[1]!;
    const at = (index: number): number =>
      scale.shape[0] === 1 ? index % columns : Math.floor(index / columns);
    return { shape, values: values.map((value, index) => value * scale.values[at(index)]!) };
  }

  private norm(name: string, { inputs }: ExportedNode): void {
    this.put(`${name}.weight`, this.stored[inputs[1]!]!);
    this.put(`${name}.bias`, this.stored[inputs[2]!]!);
  }

  /** Splits a layer `input × matrix + bias` by outputs into layers of equal width. */
  private dense(stored: string, names: readonly string[]): void {
    const multiply = this.nodes.findIndex(({ inputs }) => inputs[1] === stored);
    this.splitOutputs(this.matrix(stored), this.stored[this.nodes[multiply + 1]!.inputs[1]!]!, names);
  }

  private splitOutputs(
    { shape, values }: FixtureTensor,
    bias: FixtureTensor,
    names: readonly string[],
  ): void {
    const [inputs = 0, outputs = 0] = shape;
    const width = outputs / names.length;
    for (const [part, name] of names.entries()) {
      const transposed = Float32Array.from(
        { length: width * inputs },
        (_, i) => values[(i % inputs) * outputs + part * width + Math.floor(i / inputs)]!,
      );
      this.put(`${name}.weight`, { shape: [width, inputs], values: transposed });
      this.put(`${name}.bias`, {
        shape: [width],
        values: bias.values.slice(part * width, (part + 1) * width),
      });
    }
  }

  private classifier(): void {
    this.dense('pooler', ['pooler.dense']);
    const [multiply, sum] = this.nodes.slice(-2) as [ExportedNode, ExportedNode];
    const head = this.stored[multiply.inputs[1]!]!;
    this.tensors['classifier.weight'] = { shape: [1, head.shape[0]!], values: head.values };
    this.tensors['classifier.bias'] = this.stored[sum.inputs[1]!]!;
  }
}
