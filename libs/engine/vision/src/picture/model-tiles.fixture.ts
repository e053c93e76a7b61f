import type { Picture } from './decode-picture.js';
import { normalizeTile, readPictureSettings } from './picture-settings.js';
import { tilePicture } from './tile-picture.js';

/** Returns the tiles of a picture as the vision tower of a model takes them: each `[3, side, side]`, normalized. */
export async function modelTiles(
  directory: string,
  picture: Picture,
  { side, whole }: { side: number; whole: boolean },
): Promise<Float32Array[]> {
  const settings = await readPictureSettings(directory, side);
  const { tiles } = tilePicture(picture, settings, { whole });
  const length = side * side * 3;
  return Array.from({ length: tiles.length / length }, (_, index) =>
    normalizeTile(tiles.subarray(index * length, (index + 1) * length), settings),
  );
}
