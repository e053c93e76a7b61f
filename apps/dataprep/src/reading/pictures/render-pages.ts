import { PDFiumLibrary } from '@hyzyla/pdfium';
import type { Picture } from '#engine/vision';

/** Points of an inch; pixels of an inch of a rendered page, and the limit for its longer side. */
const [points, density, maxSide] = [72, 150, 2_400];

/** A page of a PDF as a picture. */
export interface RenderedPage {
  picture: Picture;
  /** Points of a pixel. */
  scale: number;
}

/** Renders pages of a PDF, by their numbers from 1. */
export async function* renderPages(
  bytes: Uint8Array,
  numbers: readonly number[],
): AsyncGenerator<RenderedPage> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(bytes);
    for (const number of numbers) {
      const page = document.getPage(number - 1);
      const { originalWidth, originalHeight } = page.getOriginalSize();
      const scale = Math.min(density / points, maxSide / Math.max(originalWidth, originalHeight));
      const { width, height, data } = await page.render({ scale, colorSpace: 'Gray' });
      yield { picture: { width, height, pixels: toRgb(data, width * height) }, scale: 1 / scale };
    }
    document.destroy();
  } finally {
    library.destroy();
  }
}

function toRgb(gray: Uint8Array, count: number): Uint8Array {
  const step = gray.length / count;
  const pixels = new Uint8Array(count * 3);
  for (let at = 0; at < count; at += 1) pixels.fill(gray[at * step]!, at * 3, at * 3 + 3);
  return pixels;
}
