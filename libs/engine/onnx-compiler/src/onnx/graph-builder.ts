import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Matrix, NormWeights } from '../checkpoint/matrix.js';
import {
  type Attribute,
  type ElementType,
  type Graph,
  type GraphNode,
  type GraphTensor,
  type GraphValue,
  writeOnnxFile,
} from './onnx-file.js';

/**
 * How a machine multiplies uint8 by int8. x86 processors without VNNI add pairs of products in 16 bits and
 * saturate, which silently gives wrong results for large values. Graphs for them avoid such values.
 */
export type IntegerKernel = 'exact' | 'saturating';

/** Domain of ONNX Runtime's own operators. */
export const microsoft = 'com.microsoft';

/** Options of a graph node. */
interface OperatorOptions {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Default: ONNX's standard operators. */
  readonly domain?: string;
  /** Name of the single output, if it is a graph output. */
  readonly output?: string;
}

const bytesOf = (array: Float32Array | BigInt64Array | Uint8Array | Int8Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Collects the nodes and constants of one ONNX graph. Its methods return the names of values. */
export class GraphBuilder {
  private readonly nodes: GraphNode[] = [];
  private readonly inputs: GraphValue[] = [];
  private readonly outputs: GraphValue[] = [];
  private readonly tensors: Map<string, GraphTensor>;
  private readonly names: { count: number };

  /** `kernel`: of the machine that will run the graph; it selects the int8 arithmetic. */
  constructor(
    readonly kernel: IntegerKernel = 'exact',
    private readonly parent?: GraphBuilder,
  ) {
    this.tensors = parent?.tensors ?? new Map<string, GraphTensor>();
    this.names = parent?.names ?? { count: 0 };
  }

  /**
   * Returns a subgraph for {@link choose}: it can use this graph's values, and its constants become constants of
   * this graph.
   */
  branch(): GraphBuilder {
    return new GraphBuilder(this.kernel, this);
  }

  /** Adds an `If` with two branches, which must have the same number of outputs; `outputs` names the results. */
  choose(condition: string, branches: { yes: GraphBuilder; no: GraphBuilder }, outputs: string[]): void {
    const attributes = {
      then_branch: { graph: branches.yes.build('yes') },
      else_branch: { graph: branches.no.build('no') },
    };
    this.addNode('If', [condition], { attributes }, outputs);
  }

  /** Adds an operator with one output; returns the output's name. */
  op(operator: string, inputs: readonly string[], options: OperatorOptions = {}): string {
    return this.addNode(operator, inputs, options, [options.output ?? this.fresh(operator)])[0]!;
  }

  /** Adds an operator whose outputs at the given places are used; returns their names. */
  opWithOutputs(
    operator: string,
    inputs: readonly string[],
    places: readonly number[],
    options: Omit<OperatorOptions, 'output'> = {},
  ): string[] {
    const outputs = Array.from({ length: Math.max(...places) + 1 }, (_unused, place) =>
      places.includes(place) ? this.fresh(operator) : '',
    );
    this.addNode(operator, inputs, options, outputs);
    return places.map((place) => outputs[place]!);
  }

  /** Splits a value along an axis into parts of the given sizes; returns their names. */
  split(value: string, sizes: readonly number[], axis: number): string[] {
    return this.splitBy(value, this.int64(sizes), sizes.length, axis);
  }

  /** Splits a value along an axis into `parts` parts; `sizes` is a value of the graph. Returns their names. */
  splitBy(value: string, sizes: string, parts: number, axis: number): string[] {
    const outputs = Array.from({ length: parts }, () => this.fresh('Split'));
    return this.addNode('Split', [value, sizes], { attributes: { axis } }, outputs);
  }

  input(name: string, type: ElementType, shape: GraphValue['shape']): string {
    this.inputs.push({ name, type, shape });
    return name;
  }

  /** Declares a value of the graph as its output. */
  output(name: string, type: ElementType, shape: GraphValue['shape']): void {
    this.outputs.push({ name, type, shape });
  }

  /** Adds a one-dimensional int64 constant. */
  int64(values: readonly number[]): string {
    return this.constant(`i64_${values.join('_')}`, 'int64', [values.length], () =>
      BigInt64Array.from(values, BigInt),
    );
  }

  /** Adds an int64 constant without dimensions. */
  int64Scalar(value: number): string {
    return this.constant(`i64s_${value}`, 'int64', [], () => BigInt64Array.of(BigInt(value)));
  }

  float(value: number): string {
    return this.constant(`f32_${value}`, 'float32', [], () => Float32Array.of(value));
  }

  uint8(value: number): string {
    return this.constant(`u8_${value}`, 'uint8', [], () => Uint8Array.of(value));
  }

  int8(value: number): string {
    return this.constant(`i8_${value}`, 'int8', [], () => Int8Array.of(value));
  }

  /** Adds a named constant whose data is produced when the file is written. Constants with the same name are shared. */
  constant(
    name: string,
    type: ElementType,
    shape: readonly number[],
    make: () =>
      Float32Array | BigInt64Array | Uint8Array | Int8Array | Promise<Float32Array | Int8Array | Uint8Array>,
  ): string {
    if (!this.tensors.has(name))
      this.tensors.set(name, { name, type, shape, produce: async () => bytesOf(await make()) });
    return name;
  }

  /** Adds a vector of a checkpoint. */
  vector({ name, rows, read }: Matrix): string {
    return this.constant(name, 'float32', [rows], () => read());
  }

  /** Normalizes along the last axis. */
  layerNorm(value: string, { scale, offset }: NormWeights, epsilon: number): string {
    const inputs = [value, this.vector(scale), ...(offset ? [this.vector(offset)] : [])];
    return this.op('LayerNormalization', inputs, { attributes: { axis: -1, epsilon: { float: epsilon } } });
  }

  build(name: string): Graph {
    const { nodes, inputs, outputs, tensors, parent } = this;
    return { name, nodes, inputs, outputs, tensors: parent ? [] : [...tensors.values()] };
  }

  private addNode(
    operator: string,
    inputs: readonly string[],
    { attributes = {}, domain = '' }: OperatorOptions,
    outputs: string[],
  ): string[] {
    this.nodes.push({ operator, domain, inputs, outputs, attributes });
    return outputs;
  }

  private fresh(operator: string): string {
    return `${operator}_${++this.names.count}`;
  }
}

const width = 64;
const expected = width * 255 * 127;

/**
 * Detects whether this machine's uint8 × int8 kernels saturate: multiplies the largest values and compares the sum.
 * Takes a few milliseconds, once per process.
 */
export function detectIntegerKernel(): Promise<IntegerKernel> {
  detected ??= probe();
  return detected;
}
let detected: Promise<IntegerKernel> | undefined;

async function probe(): Promise<IntegerKernel> {
  const folder = await mkdtemp(join(tmpdir(), 'meganest-probe-'));
  try {
    await writeOnnxFile(folder, probeGraph());
    const session = await InferenceSession.create(join(folder, 'model.onnx'), { logSeverityLevel: 3 });
    const input = new Tensor('uint8', new Uint8Array(width).fill(255), [1, width]);
    const { sums } = await session.run({ input });
    await session.release();
    return (sums!.data as Int32Array).every((sum) => sum === expected) ? 'exact' : 'saturating';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function probeGraph() {
  const graph = new GraphBuilder();
  const input = graph.input('input', 'uint8', ['rows', width]);
  const weight = graph.constant('weight', 'int8', [width, width], () =>
    new Int8Array(width * width).fill(127),
  );
  graph.op('MatMulInteger', [input, weight], { output: 'sums' });
  graph.output('sums', 'int32', ['rows', width]);
  return graph.build('probe');
}
