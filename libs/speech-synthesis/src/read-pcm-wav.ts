/** Reads the samples (-1 to 1) of a WAV file of one channel of 16 bits. Errors: an Error for anything else. */
export function readPcmWav(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (
    bytes.length < 44 ||
    tag(0) !== 'RIFF' ||
    view.getUint16(22, true) !== 1 ||
    view.getUint16(34, true) !== 16
  )
    throw new Error('not a WAV file of one channel of 16 bits');
  let at = 12;
  while (at + 8 <= bytes.length && tag(at) !== 'data') at += 8 + view.getUint32(at + 4, true);
  const begin = at + 8;
  const end = Math.min(bytes.length, begin + view.getUint32(at + 4, true));
  return Float32Array.from(
    { length: (end - begin) >> 1 },
    (_, index) => view.getInt16(begin + 2 * index, true) / 32_768,
  );
}
