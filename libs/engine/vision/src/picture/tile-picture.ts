import type { Picture } from './decode-picture.js';
import { type FilterName, resizePicture } from './resize-picture.js';

/** How a model cuts a picture into tiles: the values of its preprocessor_config.json. */
export interface TileSettings {
  /** Pixels of the longest edge before a picture is cut; absent: as it is. */
  readonly longestEdge?: number;
  /** Side of a tile in pixels. */
  readonly tileSize: number;
  readonly filter: FilterName;
  /** False: the whole picture in one tile alone. */
  readonly splits: boolean;
}

/** A picture as tiles. */
export interface TiledPicture {
  /** Rows and columns of the tiles that cover it; 0 if there is the whole picture alone. */
  readonly rows: number;
  readonly columns: number;
  /** `[rows × columns + 1, side, side, 3]`: the tiles row by row, then the whole picture. */
  readonly tiles: Uint8Array<ArrayBuffer>;
}

/** Edges longer than this are reduced to it, as transformers does. */
const maxEdge = 4096;

/**
 * Cuts a picture into tiles as the image processor of Idefics3 in transformers does: it is resized to the longest edge,
 * then to a multiple of the tile's side, and cut; the whole picture follows in one tile. `whole`: the whole picture
 * alone.
 */
export function tilePicture(
  picture: Picture,
  settings: TileSettings,
  { whole = false }: { whole?: boolean } = {},
): TiledPicture {
  const { tileSize: side, filter } = settings;
  const sized = toLongestEdge(picture, settings);
  if (whole || !settings.splits) {
    const tiles = new Uint8Array(resizePicture(sized, side, side, filter).pixels);
    return { rows: 0, columns: 0, tiles };
  }
  const { width, height } = wholeTiles(sized, side);
  const fitted = resizePicture(sized, width, height, filter);
  const isOne = width === side && height === side;
  const [rows, columns] = isOne ? [0, 0] : [height / side, width / side];
  const length = side * side * 3;
  const tiles = new Uint8Array((rows * columns + 1) * length);
  for (let index = 0; index < rows * columns; index++) {
    const corner = { top: Math.floor(index / columns) * side, left: (index % columns) * side };
    cut(fitted, corner, side, tiles.subarray(index * length, (index + 1) * length));
  }
  tiles.set(resizePicture(fitted, side, side, filter).pixels, rows * columns * length);
  return { rows, columns, tiles };
}

/** Makes the longest edge as long as the model wants it; the other one becomes even, and keeps the proportions. */
function toLongestEdge(picture: Picture, { longestEdge, filter }: TileSettings): Picture {
  if (longestEdge === undefined) return picture;
  const edge = Math.min(longestEdge, maxEdge);
  const { width, height } = picture;
  const isWide = width >= height;
  const newWidth = isWide ? edge : even(edge * (width / height));
  const newHeight = isWide ? even(edge / (width / height)) : edge;
  return resizePicture(picture, newWidth, newHeight, filter);
}

function even(length: number): number {
  return Math.max(1, Math.trunc(length) + (Math.trunc(length) % 2));
}

/** The size in whole tiles: the longest edge rounded up, then the other one in proportion, rounded up. */
function wholeTiles({ width, height }: Picture, side: number): { width: number; height: number } {
  const up = (length: number): number => Math.max(1, Math.ceil(length / side)) * side;
  const ratio = width / height;
  if (width >= height) return { width: up(width), height: up(Math.trunc(up(width) / ratio)) };
  return { height: up(height), width: up(Math.trunc(up(height) * ratio)) };
}

function cut(
  { width, pixels }: Picture,
  { top, left }: { top: number; left: number },
  side: number,
  target: Uint8Array,
): void {
  for (let y = 0; y < side; y++) {
    const from = ((top + y) * width + left) * 3;
    target.set(pixels.subarray(from, from + side * 3), y * side * 3);
  }
}
