import { UnreadableAudioError } from './pcm.js';

/** Which decoder reads a file; `packets`: Ogg, WebM, Matroska and MP4 around Opus or Vorbis. */
export type AudioType = 'wav' | 'flac' | 'ogg-flac' | 'mp3' | 'packets';

/** Tells the type by the first bytes; names and MIME types are not trusted. Errors: UnreadableAudioError. */
export function detectAudioType(bytes: Uint8Array): AudioType {
  const text = (start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WAVE') return 'wav';
  if (text(0, 4) === 'fLaC') return 'flac';
  if (text(0, 4) === 'OggS') return text(0, 128).includes('\u007FFLAC') ? 'ogg-flac' : 'packets';
  if (text(4, 8) === 'ftyp' || (bytes[0] === 0x1a && text(0, 4) === '\u001AE\u00DF\u00A3')) return 'packets';
  if (text(0, 3) === 'ID3') return 'mp3';
  if (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0) {
    // The two bits of the layer are zero in AAC's frames alone.
    if ((bytes[1]! & 0x06) === 0) throw new UnreadableAudioError('AAC is not decoded here');
    return 'mp3';
  }
  throw new UnreadableAudioError(
    'its content is no audio that is known here: send wav, flac, mp3, ogg or webm',
  );
}
