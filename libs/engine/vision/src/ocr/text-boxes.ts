import type { TurnedBox } from './gray-picture.js';

/** Probability from which a pixel belongs to text, and the mean from which a region does. */
const [minPixel, minMean] = [0.3, 0.55];
/** The model marks the middle of lines: their boxes are larger by this ratio of area and perimeter. */
const unclipRatio = 1.6;
const minSide = 3;
const maxBoxes = 2_000;

/** The boxes of text in a map of probabilities, `[height, width]`. */
export function boxesOfMap(map: Float32Array, width: number, height: number): TurnedBox[] {
  const seen = new Uint8Array(width * height);
  const boxes: TurnedBox[] = [];
  for (let start = 0; start < map.length && boxes.length < maxBoxes; start += 1) {
    if (seen[start] || map[start]! < minPixel) continue;
    const region = regionFrom(map, seen, width, height, start);
    if (region.mean < minMean) continue;
    const box = smallestBox(convexHull(region.border));
    if (Math.min(box.width, box.height) < minSide) continue;
    const grow = ((box.width * box.height) / (2 * (box.width + box.height))) * unclipRatio * 2;
    boxes.push({ ...box, width: box.width + grow, height: box.height + grow });
  }
  return boxes;
}

type Point = [x: number, y: number];

/** Marks the region of a pixel as seen. Its border: the first and the last pixel of each row. */
function regionFrom(map: Float32Array, seen: Uint8Array, width: number, height: number, start: number) {
  const rows = new Map<number, [first: number, last: number]>();
  const open = [start];
  seen[start] = 1;
  let [sum, count] = [0, 0];
  while (open.length > 0) {
    const at = open.pop()!;
    const [x, y] = [at % width, Math.floor(at / width)];
    sum += map[at]!;
    count += 1;
    const row = rows.get(y);
    if (!row) rows.set(y, [x, x]);
    else if (x < row[0]) row[0] = x;
    else if (x > row[1]) row[1] = x;
    const visit = (next: number) => {
      if (seen[next] || map[next]! < minPixel) return;
      seen[next] = 1;
      open.push(next);
    };
    if (x > 0) visit(at - 1);
    if (x < width - 1) visit(at + 1);
    if (y > 0) visit(at - width);
    if (y < height - 1) visit(at + width);
  }
  const border = [...rows].flatMap(([y, [first, last]]): Point[] => [
    [first, y],
    [last + 1, y],
    [first, y + 1],
    [last + 1, y + 1],
  ]);
  return { mean: sum / count, border };
}

/** The corners of the convex hull (Andrew's monotone chain). */
function convexHull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted(([x1, y1], [x2, y2]) => x1 - x2 || y1 - y2);
  const half = (list: readonly Point[]) => {
    const hull: Point[] = [];
    for (const point of list) {
      while (hull.length > 1 && turns(hull.at(-2)!, hull.at(-1)!, point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

function turns([x1, y1]: Point, [x2, y2]: Point, [x3, y3]: Point): number {
  return (x2 - x1) * (y3 - y1) - (y2 - y1) * (x3 - x1);
}

/** The smallest rectangle around a convex hull: one of its sides lies on one of the hull's. Its angle is within ±45°. */
function smallestBox(hull: readonly Point[]): TurnedBox {
  let best: TurnedBox = { x: 0, y: 0, width: Infinity, height: Infinity, angle: 0 };
  hull.forEach(([x1, y1], index) => {
    const [x2, y2] = hull[(index + 1) % hull.length]!;
    const side = Math.atan2(y2 - y1, x2 - x1);
    const angle = side - Math.round(side / (Math.PI / 2)) * (Math.PI / 2);
    const box = boxAt(hull, angle);
    if (box.width * box.height < best.width * best.height) best = box;
  });
  return best;
}

function boxAt(hull: readonly Point[], angle: number): TurnedBox {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const rights = hull.map(([x, y]) => x * cosine + y * sine);
  const downs = hull.map(([x, y]) => y * cosine - x * sine);
  const [left, right] = [Math.min(...rights), Math.max(...rights)];
  const [top, bottom] = [Math.min(...downs), Math.max(...downs)];
  const [middleX, middleY] = [(left + right) / 2, (top + bottom) / 2];
  return {
    x: middleX * cosine - middleY * sine,
    y: middleX * sine + middleY * cosine,
    width: right - left,
    height: bottom - top,
    angle,
  };
}
