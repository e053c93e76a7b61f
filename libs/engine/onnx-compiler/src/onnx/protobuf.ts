/**
 * The protobuf wire types that an ONNX file needs. A message to write is a list of pieces, so that a tensor's bytes are not
 * copied into a larger buffer and can be produced when they are written.
 */

/** Bytes that are produced when they are written; their number is known beforehand. */
export interface LazyBytes {
  readonly byteLength: number;
  produce(): Promise<Uint8Array>;
}

/** A piece of an encoded message. */
export type Piece = Uint8Array | LazyBytes;

const utf8 = new TextEncoder();

/** Encodes a base-128 varint; negative numbers take ten bytes, as in protobuf's int64. */
function varint(value: number | bigint): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

const tag = (field: number, wireType: number): Uint8Array => varint((field << 3) | wireType);

/** One protobuf message under construction; each method appends a field. */
export class ProtoMessage {
  private readonly parts: Piece[] = [];
  /** Encoded size in bytes. */
  byteLength = 0;

  int(field: number, value: number | bigint): this {
    return this.push(tag(field, 0), varint(value));
  }

  float(field: number, value: number): this {
    return this.push(tag(field, 5), new Uint8Array(Float32Array.of(value).buffer));
  }

  string(field: number, value: string): this {
    return this.bytes(field, utf8.encode(value));
  }

  bytes(field: number, value: Piece): this {
    return this.push(tag(field, 2), varint(value.byteLength), value);
  }

  message(field: number, value: ProtoMessage): this {
    return this.push(tag(field, 2), varint(value.byteLength), ...value.parts);
  }

  /** The encoded message, piece by piece. */
  pieces(): readonly Piece[] {
    return this.parts;
  }

  private push(...pieces: Piece[]): this {
    for (const piece of pieces) {
      this.parts.push(piece);
      this.byteLength += piece.byteLength;
    }
    return this;
  }
}

/** Reads a base-128 varint up to 2⁵³; returns the value and the place behind it. */
function readVarint(message: Uint8Array, start: number): [value: number, end: number] {
  let [value, factor, place] = [0, 1, start];
  for (;;) {
    const byte = message[place++]!;
    value += (byte & 127) * factor;
    if (byte < 128) return [value, place];
    factor *= 128;
  }
}

/** Reads the fields of a message: a number for a varint, otherwise the bytes, which are a part of the message's memory. */
export function* readFields(message: Uint8Array): Generator<[field: number, value: Uint8Array | number]> {
  let place = 0;
  while (place < message.length) {
    const [tag, afterTag] = readVarint(message, place);
    const [field, wireType] = [tag >>> 3, tag & 7];
    if (wireType === 0) {
      const [value, end] = readVarint(message, afterTag);
      yield [field, value];
      place = end;
    } else {
      const [length, first] =
        wireType === 2 ? readVarint(message, afterTag) : ([wireType === 1 ? 8 : 4, afterTag] as const);
      yield [field, message.subarray(first, first + length)];
      place = first + length;
    }
  }
}

/** Reads the values of a repeated field of messages, strings or bytes. */
export function readAll(message: Uint8Array, field: number): Uint8Array[] {
  return [...readFields(message)].flatMap(([key, value]) =>
    key === field && value instanceof Uint8Array ? [value] : [],
  );
}
