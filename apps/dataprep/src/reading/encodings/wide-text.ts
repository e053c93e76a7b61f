/** Characters of usual scripts: those of Unicode that texts of UTF-16 mostly contain. */
const usual =
  /[\t\n\r\u0020-\u007e\u00a0-\u017f\u0370-\u052f\u05d0-\u05ea\u0600-\u06ff\u0900-\u0e7f\u2010-\u2026\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]/g;
const minShare = 0.95;
const sampleBytes = 4_096;

/** UTF-16 whose characters are hardly ever ASCII, so that zero bytes do not show it; undefined for other bytes. */
export function looksLikeUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const sample = bytes.subarray(0, Math.min(bytes.length, sampleBytes) & ~1);
  if (sample.length < 8) return undefined;
  const shareOf = (encoding: 'utf-16le' | 'utf-16be') => {
    const text = new TextDecoder(encoding).decode(sample);
    return (text.match(usual)?.length ?? 0) / text.length;
  };
  const [little, big] = [shareOf('utf-16le'), shareOf('utf-16be')];
  if (Math.max(little, big) < minShare || Math.abs(little - big) < 0.1) return undefined;
  return little > big ? 'utf-16le' : 'utf-16be';
}
