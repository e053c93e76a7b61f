export type WavForm = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64';

const widths: Record<WavForm, number> = { u8: 1, s16: 2, s24: 3, s32: 4, f32: 4, f64: 8 };

/** Writes a WAV file from channels of samples in [−1, 1]. */
export function writeWav(
  channels: readonly Float32Array[],
  sampleRate: number,
  form: WavForm = 's16',
): Uint8Array {
  const width = widths[form];
  const frames = channels[0]?.length ?? 0;
  const dataBytes = frames * channels.length * width;
  const view = new DataView(new ArrayBuffer(44 + dataBytes));
  const text = (at: number, value: string) =>
    new TextEncoder().encode(value).forEach((byte, index) => view.setUint8(at + index, byte));
  text(0, 'RIFF');
  view.setUint32(4, 36 + dataBytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, form.startsWith('f') ? 3 : 1, true);
  view.setUint16(22, channels.length, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * channels.length * width, true);
  view.setUint16(32, channels.length * width, true);
  view.setUint16(34, 8 * width, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  for (let frame = 0; frame < frames; frame += 1)
    channels.forEach((channel, index) =>
      writeSample(view, 44 + (frame * channels.length + index) * width, channel[frame]!, form),
    );
  return new Uint8Array(view.buffer);
}

function writeSample(view: DataView, at: number, sample: number, form: WavForm): void {
  if (form === 'f32') return view.setFloat32(at, sample, true);
  if (form === 'f64') return view.setFloat64(at, sample, true);
  const full = 2 ** (8 * widths[form] - 1);
  const value = Math.max(-full, Math.min(full - 1, Math.round(sample * full)));
  if (form === 'u8') return view.setUint8(at, value + 128);
  if (form === 's16') return view.setInt16(at, value, true);
  if (form === 's32') return view.setInt32(at, value, true);
  view.setUint16(at, value & 0xffff, true);
  view.setInt8(at + 2, value >> 16);
}
