import { open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readAll, readFields } from './protobuf.js';

/** Location of a constant of an ONNX file. */
interface StoredTensor {
  readonly shape: readonly number[];
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

const text = new TextDecoder();

/** Reads a TensorProto of a file; field numbers are from onnx.proto. */
function readTensor(message: Uint8Array, file: string, fileStart: number): [string, StoredTensor] {
  const shape: number[] = [];
  let name = '';
  let place = { file, offset: 0, byteLength: 0 };
  for (const [field, value] of readFields(message)) {
    if (typeof value === 'number') {
      if (field === 1) shape.push(value);
    } else if (field === 8) name = text.decode(value);
    else if (field === 9) place = { file, offset: value.byteOffset - fileStart, byteLength: value.length };
    else if (field === 13) place = withExternal(place, value);
  }
  return [name, { shape, ...place }];
}

/** Reads an entry of `external_data`: the name of a property, and its value as text. */
function withExternal(place: Omit<StoredTensor, 'shape'>, entry: Uint8Array) {
  const [key, value] = [1, 2].map((field) => text.decode(readAll(entry, field)[0]));
  if (key === 'location') return { ...place, file: join(dirname(place.file), value!) };
  return key === 'offset' ? { ...place, offset: Number(value) } : { ...place, byteLength: Number(value) };
}

/** The constants of an ONNX file that {@link writeOnnxFile} wrote, read one by one. */
export class OnnxTensors {
  private readonly files = new Map<string, FileHandle>();

  private constructor(private readonly tensors: ReadonlyMap<string, StoredTensor>) {}

  /** Reads the names and places of the constants. */
  static async open(path: string): Promise<OnnxTensors> {
    const file = await readFile(path);
    const tensors = readAll(readAll(file, 7)[0]!, 5);
    return new OnnxTensors(new Map(tensors.map((tensor) => readTensor(tensor, path, file.byteOffset))));
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
