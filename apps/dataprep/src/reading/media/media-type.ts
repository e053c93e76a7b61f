const latin1 = (bytes: Uint8Array, start: number, end: number) =>
  String.fromCharCode(...bytes.subarray(start, end));

/** Brands of MP4's container that are pictures: HEIC and AVIF. */
const pictureBrands = /^(?:hei|hev|avi|mif|msf)/;

/** First bytes of FLAC, Ogg, tags of MP3, and Matroska. */
const signatures = ['fLaC', 'OggS', 'ID3', '\u001AE\u00DF\u00A3'];

/** Whether the bytes begin like an audio or video file: WAV, FLAC, Ogg, MP4, WebM and Matroska, MP3, AAC. */
export function isMedia(bytes: Uint8Array): boolean {
  const head = latin1(bytes, 0, 12);
  if (head.startsWith('RIFF')) return head.endsWith('WAVE');
  if (signatures.some((signature) => head.startsWith(signature))) return true;
  if (head.startsWith('ftyp', 4)) return !pictureBrands.test(head.slice(8));
  return isFrame(bytes);
}

/** Whether the bytes are the header of a frame of MP3 (layer III), or of AAC. No text begins with such bytes. */
function isFrame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  if (first !== 0xff) return false;
  const isAac = (second & 0xf6) === 0xf0;
  const isMp3 = (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  // Two values of the bit rate and one of the sample rate are not used.
  const [bitRate, sampleRate] = [third >> 4, (third >> 2) & 3];
  return isAac || (isMp3 && bitRate > 0 && bitRate < 15 && sampleRate < 3);
}

/** Bytes of a Matroska file in which its tracks are described. */
const tracksBytes = 64 * 1024;

/** The beginning of a stream of pictures in Ogg. */
const theora = Buffer.from('\x80theora', 'latin1');

/** Whether an audio or video file has a picture track, which is not read. */
export function hasPictures(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes[0] === 0x1a) return /V_(?:VP[89]|AV1|MPEG)/.test(latin1(bytes, 0, tracksBytes));
  if (latin1(bytes, 4, 8) !== 'ftyp') return buffer.subarray(0, tracksBytes).includes(theora);
  for (let at = buffer.indexOf('hdlr'); at !== -1; at = buffer.indexOf('hdlr', at + 1))
    if (latin1(bytes, at + 12, at + 16) === 'vide') return true;
  return false;
}
