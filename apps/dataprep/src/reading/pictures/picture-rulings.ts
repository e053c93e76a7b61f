import type { GrayPicture } from '#engine/vision';
import type { Ruling } from '../pdf/content/rulings.js';

/** A pixel is dark if it is this much darker than the paper. */
const contrast = 70;
/** Lines are longer than this multiple of the height of a line of text; letters are not. */
const [minAcross, minDown] = [1.4, 1.1];
/** A thicker line is a bar, as a share of the height of a line of text. */
const maxThickness = 0.3;
const maxGap = 1;
/** A line that is a little askew goes on in the next row of pixels. */
const near = [0, -1, 1];

/** The straight lines of a picture of a page without its skew, in its pixels; `top` is above `bottom`, y grows downwards. */
export function linesOfPicture(gray: GrayPicture, skew: number, lineHeight: number): Ruling[] {
  const dark = darkPixels(gray);
  const across = runs(
    gray.width,
    gray.height,
    (x, y) => near.some((by) => isDark(dark, gray, x, y + by, skew)),
    minAcross * lineHeight,
  );
  const down = runs(
    gray.height,
    gray.width,
    (y, x) => near.some((by) => isDark(dark, gray, x + by, y, skew)),
    minDown * lineHeight,
  );
  const thin = maxThickness * lineHeight;
  return [
    ...joined(across, thin).map(({ from, to, first, last }) => ({
      left: from,
      right: to,
      top: first,
      bottom: last,
    })),
    ...joined(down, thin).map(({ from, to, first, last }) => ({
      left: first,
      right: last,
      top: from,
      bottom: to,
    })),
  ];
}

function darkPixels({ pixels }: GrayPicture): Uint8Array {
  const counts = new Uint32Array(256);
  for (const pixel of pixels) counts[pixel]! += 1;
  const paper = counts.indexOf(Math.max(...counts.subarray(100)), 100);
  return pixels.map((pixel) => (pixel < paper - contrast ? 1 : 0));
}

/** Whether the picture is dark at a place without the skew. */
function isDark(
  dark: Uint8Array,
  { width, height }: GrayPicture,
  x: number,
  y: number,
  skew: number,
): boolean {
  const fromX = Math.round(x * Math.cos(skew) - y * Math.sin(skew));
  const fromY = Math.round(x * Math.sin(skew) + y * Math.cos(skew));
  return fromX >= 0 && fromY >= 0 && fromX < width && fromY < height && dark[fromY * width + fromX] === 1;
}

/** Dark pixels in a row (`at`), from one place to another. */
interface Run {
  from: number;
  to: number;
  first: number;
  last: number;
}

function runs(
  length: number,
  count: number,
  isSet: (along: number, at: number) => boolean,
  minLength: number,
): Run[] {
  const found: Run[] = [];
  for (let at = 0; at < count; at += 1) {
    let [from, last] = [-1, -1];
    const end = () => {
      if (from >= 0 && last - from + 1 >= minLength)
        found.push({ from, to: last + 1, first: at, last: at + 1 });
      from = -1;
    };
    for (let along = 0; along < length; along += 1) {
      if (isSet(along, at)) {
        if (from < 0) from = along;
        last = along;
      } else if (from >= 0 && along - last > maxGap) end();
    }
    end();
  }
  return found;
}

/** Joins runs that lie on each other; those that are thicker than a line are left out. */
function joined(found: readonly Run[], maxThick: number): Run[] {
  const lines: Run[] = [];
  const open = new Set<Run>();
  for (const run of found) {
    for (const line of open) if (line.last < run.first - 1) open.delete(line);
    const same = [...open].find((line) => line.from <= run.to && run.from <= line.to);
    if (same) {
      same.from = Math.min(same.from, run.from);
      same.to = Math.max(same.to, run.to);
      same.last = run.last;
    } else {
      const line = { ...run };
      lines.push(line);
      open.add(line);
    }
  }
  return lines.filter(({ first, last }) => last - first <= Math.max(maxThick, 6));
}
