import { Tensor } from 'onnxruntime-node';
import { createSession, serveWorker } from '#engine/models';
import { compileVision } from '#engine/onnx-compiler';
import { normalizeTile, type PictureSettings, readPictureSettings } from './picture/picture-settings.js';

/** Settings of the thread of a vision tower. */
export interface VisionSettings {
  /** Folder of the model. */
  readonly directory: string;
  /** Folder of compiled graphs. */
  readonly cacheDir: string;
  readonly weights: 'fp32' | 'int8';
  /** Threads of one operator. */
  readonly threads: number;
}

/** First message of the thread: how the model sees pictures. */
export interface VisionReady {
  readonly pictures: PictureSettings;
  readonly tokensPerTile: number;
}

/** A tile `[side, side, 3]`. */
export interface TileTask {
  readonly tile: Uint8Array;
}

/** Entry point of the thread that owns the vision tower: it turns a tile into `[tokensPerTile, embeddingSize]`. */
await serveWorker<VisionReady, TileTask, never, Float32Array>(async (given) => {
  const { directory, cacheDir, weights, threads } = given as VisionSettings;
  const { onnxPath, tileSize, tokensPerTile } = await compileVision(directory, { cacheDir, weights });
  const pictures = await readPictureSettings(directory, tileSize);
  const { session } = await createSession(onnxPath, { device: 'cpu', threads });
  return {
    ready: { pictures, tokensPerTile },
    dispose: () => session.release(),
    handle: async ({ tile }) => {
      const pixels = new Tensor('float32', normalizeTile(tile, pictures), [1, 3, tileSize, tileSize]);
      const { image_embeddings: embeddings } = await session.run({ pixel_values: pixels });
      return { value: new Float32Array(embeddings!.data as Float32Array) };
    },
  };
});
