import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type LazyBytes, type Piece, ProtoMessage } from './protobuf.js';

/** Element types by ONNX's TensorProto.DataType. */
export const elementTypes = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 } as const;
export type ElementType = keyof typeof elementTypes;

const elementBytes: Record<ElementType, number> = {
  float32: 4,
  uint8: 1,
  int8: 1,
  int32: 4,
  int64: 8,
  bool: 1,
};

/**
 * An attribute: an integer, a float (in an object, since 1 could be either), a list of integers, a string or a
 * subgraph.
 */
export type Attribute = number | { float: number } | readonly number[] | string | { graph: Graph };

/** An operator of the graph. */
export interface GraphNode {
  readonly operator: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** A graph input or output; a string dimension is symbolic. */
export interface GraphValue {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly (number | string)[];
}

/** A constant of the graph. Its bytes are produced when the file is written. */
export interface GraphTensor {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  produce(): Promise<Uint8Array>;
}

/** An ONNX graph. */
export interface Graph {
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly tensors: readonly GraphTensor[];
}

const irVersion = 8;
const opset = 17;
/**
 * Above this size the weights are in a separate file. ONNX Runtime maps that file into memory, so that loading needs
 * memory only for the runtime's own form of the weights, and embeddings only for the rows in use. A protobuf message is
 * read as a whole, and is limited to 2 GiB.
 */
const maxSingleFileBytes = 64 * 1024 * 1024;
/** Smaller tensors always stay in the model file, because ONNX Runtime needs small constants inline. */
const minExternalBytes = 4096;
const alignment = 4096;
const externalFile = 'model.onnx.data';

const byteSize = (tensor: GraphTensor): number =>
  tensor.shape.reduce((product, dim) => product * dim, 1) * elementBytes[tensor.type];

/**
 * Writes `model.onnx` into a directory, and `model.onnx.data` if the weights exceed `limit` bytes. Returns the file
 * names.
 */
export async function writeOnnxFile(
  directory: string,
  graph: Graph,
  limit = maxSingleFileBytes,
): Promise<string[]> {
  const total = graph.tensors.reduce((sum, tensor) => sum + byteSize(tensor), 0);
  const isExternal = (tensor: GraphTensor): boolean => total > limit && byteSize(tensor) >= minExternalBytes;
  const offsets = new Map<string, number>();
  let end = 0;
  for (const tensor of graph.tensors.filter(isExternal)) {
    offsets.set(tensor.name, end);
    end = Math.ceil((end + byteSize(tensor)) / alignment) * alignment;
  }
  await writePieces(join(directory, 'model.onnx'), encodeModel(graph, offsets).pieces());
  if (offsets.size === 0) return ['model.onnx'];
  await writeExternal(join(directory, externalFile), graph.tensors, offsets);
  return ['model.onnx', externalFile];
}

async function writePieces(path: string, pieces: readonly Piece[]): Promise<void> {
  const file = await open(path, 'w');
  try {
    let pending: Uint8Array[] = [];
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) pending.push(piece);
      else {
        await file.writeFile(Buffer.concat(pending));
        await file.writeFile(await checkedBytes(piece));
        pending = [];
      }
    }
    await file.writeFile(Buffer.concat(pending));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeExternal(
  path: string,
  tensors: readonly GraphTensor[],
  offsets: ReadonlyMap<string, number>,
): Promise<void> {
  const file = await open(path, 'w');
  try {
    let position = 0;
    for (const tensor of tensors) {
      const offset = offsets.get(tensor.name);
      if (offset === undefined) continue;
      await file.writeFile(new Uint8Array(offset - position));
      await file.writeFile(await checkedBytes(lazyBytes(tensor)));
      position = offset + byteSize(tensor);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

const lazyBytes = (tensor: GraphTensor): LazyBytes => ({
  byteLength: byteSize(tensor),
  produce: () => tensor.produce(),
});

async function checkedBytes(lazy: LazyBytes): Promise<Uint8Array> {
  const bytes = await lazy.produce();
  if (bytes.byteLength !== lazy.byteLength)
    throw new Error(`A tensor has ${bytes.byteLength} bytes, but its shape needs ${lazy.byteLength}.`);
  return bytes;
}

/* Field numbers below are from onnx.proto. */

function encodeModel(graph: Graph, offsets: ReadonlyMap<string, number>): ProtoMessage {
  const model = new ProtoMessage()
    .int(1, irVersion)
    .string(2, 'meganest')
    .message(7, encodeGraph(graph, offsets));
  for (const [domain, version] of [
    ['', opset],
    ['com.microsoft', 1],
  ] as const)
    model.message(8, new ProtoMessage().string(1, domain).int(2, version));
  return model;
}

function encodeGraph(graph: Graph, offsets: ReadonlyMap<string, number>): ProtoMessage {
  const message = new ProtoMessage();
  for (const node of graph.nodes) message.message(1, encodeNode(node, offsets));
  message.string(2, graph.name);
  for (const tensor of graph.tensors) message.message(5, encodeTensor(tensor, offsets.get(tensor.name)));
  for (const value of graph.inputs) message.message(11, encodeValue(value));
  for (const value of graph.outputs) message.message(12, encodeValue(value));
  return message;
}

function encodeNode(node: GraphNode, offsets: ReadonlyMap<string, number>): ProtoMessage {
  const message = new ProtoMessage();
  for (const input of node.inputs) message.string(1, input);
  for (const output of node.outputs) message.string(2, output);
  message.string(3, node.outputs[0]!).string(4, node.operator);
  for (const [name, value] of Object.entries(node.attributes))
    message.message(5, encodeAttribute(name, value, offsets));
  return message.string(7, node.domain);
}

function encodeAttribute(name: string, value: Attribute, offsets: ReadonlyMap<string, number>): ProtoMessage {
  const message = new ProtoMessage().string(1, name);
  if (typeof value === 'number') return message.int(3, value).int(20, 2);
  if (typeof value === 'string') return message.string(4, value).int(20, 3);
  if ('float' in value) return message.float(2, value.float).int(20, 1);
  if ('graph' in value) return message.message(6, encodeGraph(value.graph, offsets)).int(20, 5);
  for (const item of value) message.int(8, item);
  return message.int(20, 7);
}

function encodeTensor(tensor: GraphTensor, externalOffset: number | undefined): ProtoMessage {
  const message = new ProtoMessage();
  for (const dim of tensor.shape) message.int(1, dim);
  message.int(2, elementTypes[tensor.type]).string(8, tensor.name);
  if (externalOffset === undefined) return message.bytes(9, lazyBytes(tensor));
  const place = { location: externalFile, offset: `${externalOffset}`, length: `${byteSize(tensor)}` };
  for (const [key, value] of Object.entries(place))
    message.message(13, new ProtoMessage().string(1, key).string(2, value));
  return message.int(14, 1);
}

function encodeValue(value: GraphValue): ProtoMessage {
  const shape = new ProtoMessage();
  for (const dim of value.shape)
    shape.message(
      1,
      typeof dim === 'number' ? new ProtoMessage().int(1, dim) : new ProtoMessage().string(2, dim),
    );
  const tensorType = new ProtoMessage().int(1, elementTypes[value.type]).message(2, shape);
  return new ProtoMessage().string(1, value.name).message(2, new ProtoMessage().message(1, tensorType));
}
