import { serveWorker } from '#engine/models';
import { decodePicture } from './decode-picture.js';
import { tilePicture, type TileSettings, type TiledPicture } from './tile-picture.js';

/** A picture to read: the bytes of its file, and how it is cut. */
export interface PictureTask {
  readonly bytes: Uint8Array;
  readonly settings: TileSettings;
  /** The whole picture alone. */
  readonly whole: boolean;
  /** Its path in the caller's request. */
  readonly param: string;
}

/** Entry point of the thread that decodes pictures. */
await serveWorker<undefined, PictureTask, never, TiledPicture>(() =>
  Promise.resolve({
    ready: undefined,
    dispose: () => Promise.resolve(),
    handle: async ({ bytes, settings, whole, param }) => {
      const picture = tilePicture(await decodePicture(bytes, param), settings, { whole });
      return { value: picture, transfer: [picture.tiles.buffer] };
    },
  }),
);
