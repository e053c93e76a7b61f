import { apply, type Matrix } from './matrix.js';

/** A straight line on a page, or a thin box, as the box around it. */
export interface Ruling {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/** Codes of the data of a path in pdf.js, and how many coordinates follow them. */
const coordinates: Record<number, number> = { 0: 2, 1: 2, 2: 6, 3: 4, 4: 0 };
const [moveTo, lineTo, , , closePath] = [0, 1, 2, 3, 4] as const;
const maxThickness = 3;
const minLength = 5;

/** Horizontal and vertical lines of a path, after the transformation. */
export function rulingsOfPath(data: ArrayLike<number>, matrix: Matrix): Ruling[] {
  return subpathsOf(data, matrix).flatMap((points) => {
    if (points.length < 2) return [];
    const box = boxOf(points);
    if (isThin(box)) return isLong(box) ? [box] : [];
    return points.flatMap((point, index) => {
      const side = boxOf([point, points[index + 1] ?? point]);
      return isThin(side) && isLong(side) ? [side] : [];
    });
  });
}

type Point = [x: number, y: number];

/** The subpaths of straight lines. */
function subpathsOf(data: ArrayLike<number>, matrix: Matrix): Point[][] {
  const subpaths: Point[][] = [];
  let hasCurve = false;
  for (let index = 0; index < data.length;) {
    const code = data[index] ?? 0;
    const count = coordinates[code];
    if (count === undefined) break;
    const open = subpaths.at(-1);
    const point = () => apply(matrix, data[index + 1] ?? 0, data[index + 2] ?? 0);
    if (code === moveTo) {
      if (hasCurve) subpaths.pop();
      hasCurve = false;
      subpaths.push([point()]);
    } else if (code === lineTo) open?.push(point());
    else if (code === closePath) {
      if (open?.[0]) open.push(open[0]);
    } else hasCurve = true;
    index += 1 + count;
  }
  if (hasCurve) subpaths.pop();
  return subpaths;
}

function boxOf(points: readonly Point[]): Ruling {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

function isThin({ left, right, bottom, top }: Ruling): boolean {
  return Math.min(right - left, top - bottom) <= maxThickness;
}

function isLong({ left, right, bottom, top }: Ruling): boolean {
  return Math.max(right - left, top - bottom) >= minLength;
}
