import { open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Location of a constant of an ONNX file. */
interface StoredTensor {
  readonly shape: readonly number[];
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

/** A field of a protobuf message: a number, or the range of its bytes. */
interface Field {
  readonly number: number;
  readonly value: number;
  readonly start: number;
  readonly end: number;
}

/** Reads a base-128 varint; returns the value and the place behind it. */
function readVarint(bytes: Uint8Array, start: number): [value: number, end: number] {
  let [value, factor, place] = [0, 1, start];
  for (;;) {
    const byte = bytes[place++]!;
    value += (byte & 127) * factor;
    if (byte < 128) return [value, place];
    factor *= 128;
  }
}

/** Lists the fields of the message in a range of bytes. Wire types: 0 varint, 1 and 5 fixed width, 2 bytes. */
function* fieldsOf(bytes: Uint8Array, start: number, end: number): Generator<Field> {
  let place = start;
  while (place < end) {
    const [tag, afterTag] = readVarint(bytes, place);
    const [number, wireType] = [tag >>> 3, tag & 7];
    if (wireType === 0) {
      const [value, next] = readVarint(bytes, afterTag);
      yield { number, value, start: afterTag, end: next };
      place = next;
    } else {
      const [length, first] =
        wireType === 2 ? readVarint(bytes, afterTag) : ([wireType === 1 ? 8 : 4, afterTag] as const);
      yield { number, value: length, start: first, end: first + length };
      place = first + length;
    }
  }
}

const text = new TextDecoder();

/** Reads a TensorProto; field numbers are from onnx.proto. */
function readTensor(bytes: Uint8Array, { start, end }: Field, file: string): [string, StoredTensor] {
  const shape: number[] = [];
  let name = '';
  let place = { file, offset: 0, byteLength: 0 };
  for (const field of fieldsOf(bytes, start, end)) {
    if (field.number === 1) shape.push(field.value);
    else if (field.number === 8) name = text.decode(bytes.subarray(field.start, field.end));
    else if (field.number === 9) place = { file, offset: field.start, byteLength: field.end - field.start };
    else if (field.number === 13) place = withExternal(place, bytes, field);
  }
  return [name, { shape, ...place }];
}

/** Reads an entry of `external_data`: the name of a property, and its value as text. */
function withExternal(place: Omit<StoredTensor, 'shape'>, bytes: Uint8Array, field: Field) {
  const [key, value] = [...fieldsOf(bytes, field.start, field.end)].map(({ start, end }) =>
    text.decode(bytes.subarray(start, end)),
  );
  if (key === 'location') return { ...place, file: join(dirname(place.file), value!) };
  return key === 'offset' ? { ...place, offset: Number(value) } : { ...place, byteLength: Number(value) };
}

/** The constants of an ONNX file that {@link writeOnnxFile} wrote, read one by one. */
export class OnnxTensors {
  private readonly files = new Map<string, FileHandle>();

  private constructor(private readonly tensors: ReadonlyMap<string, StoredTensor>) {}

  /** Reads the names and places of the constants. */
  static async open(path: string): Promise<OnnxTensors> {
    const bytes = await readFile(path);
    const graph = [...fieldsOf(bytes, 0, bytes.length)].find(({ number }) => number === 7)!;
    const tensors = [...fieldsOf(bytes, graph.start, graph.end)].filter(({ number }) => number === 5);
    return new OnnxTensors(new Map(tensors.map((tensor) => readTensor(bytes, tensor, path))));
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  /** Returns the dimensions of a constant. Throws if there is not such a constant. */
  shape(name: string): readonly number[] {
    return this.stored(name).shape;
  }

  /** Fills `target` with the bytes of a constant from `first` on. */
  async read(name: string, target: Uint8Array, first = 0): Promise<void> {
    const { file, offset } = this.stored(name);
    const handle = this.files.get(file) ?? (await open(file));
    this.files.set(file, handle);
    for (let done = 0; done < target.length;) {
      const { bytesRead } = await handle.read(target, done, target.length - done, offset + first + done);
      if (bytesRead === 0) throw new Error(`${file} ends before the constant ${name} does.`);
      done += bytesRead;
    }
  }

  /** Returns a constant of floats. */
  async floats(name: string): Promise<Float32Array> {
    const values = new Float32Array(this.stored(name).byteLength / 4);
    await this.read(name, new Uint8Array(values.buffer));
    return values;
  }

  /** Closes the files. */
  async close(): Promise<void> {
    for (const handle of this.files.values()) await handle.close();
    this.files.clear();
  }

  private stored(name: string): StoredTensor {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new Error(`The graph has no constant ${name}.`);
    return tensor;
  }
}
