/** Bytes of the shortest header. */
const headBytes = 44;

/** Returns a WAV file of one channel of 16-bit samples at `rate` Hz, with the shortest header. */
export function pcmWav(samples: Int16Array, rate: number): Uint8Array {
  const data = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return Buffer.concat([pcmWavHead(data.length, rate), data]);
}

/** Returns the header of a WAV file of one channel of 16-bit samples at `rate` Hz, for `dataBytes` bytes of samples. */
export function pcmWavHead(dataBytes: number, rate: number): Uint8Array {
  const head = Buffer.alloc(headBytes);
  head.write('RIFF', 0);
  head.writeUInt32LE(headBytes - 8 + dataBytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/**
 * Reads the samples (-1 to 1) of a WAV file of one channel of 16 bits. libs/engine/speech reads files of callers.
 * Errors: an Error for any other file.
 */
export function readPcmWav(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (
    bytes.length < headBytes ||
    tag(0) !== 'RIFF' ||
    view.getUint16(22, true) !== 1 ||
    view.getUint16(34, true) !== 16
  )
    throw new Error('not a WAV file of one channel of 16 bits');
  let at = 12;
  while (at + 8 <= bytes.length && tag(at) !== 'data') at += 8 + view.getUint32(at + 4, true);
  if (at + 8 > bytes.length) throw new Error('a WAV file without samples');
  const begin = at + 8;
  const end = Math.min(bytes.length, begin + view.getUint32(at + 4, true));
  return Float32Array.from(
    { length: (end - begin) >> 1 },
    (_, index) => view.getInt16(begin + 2 * index, true) / 32_768,
  );
}
