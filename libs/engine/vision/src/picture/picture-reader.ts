import { MegaNestError } from '#platform/contracts';
import { TimedWorker } from '#engine/models';
import { builtFile } from '#platform/foundation';
import type { PictureTask } from './picture.worker.js';
import type { TiledPicture } from './tile-picture.js';

/** Maximum processor time to decode and cut one picture, in milliseconds. */
const limitMs = 20_000;
/** A thread without pictures ends after this time, which frees the memory of the decoders. */
const idleMs = 10_000;

/** Decodes pictures and cuts them, one at a time, in a thread that a hostile file cannot hold beyond a limit. */
export class PictureReader {
  private worker?: TimedWorker<PictureTask, TiledPicture>;
  private waiting = 0;
  private idle?: NodeJS.Timeout;

  /**
   * Reads a picture. Errors: unsupported_file, payload_too_large, and invalid_request for a picture that takes too long,
   * each with `task.param`; cancelled.
   */
  async read(task: PictureTask, signal?: AbortSignal): Promise<TiledPicture> {
    const { param } = task;
    const tooLong = () => {
      const detail = `The image takes longer than ${limitMs / 1000} seconds to decode.`;
      return new MegaNestError('invalid_request', { detail, param });
    };
    clearTimeout(this.idle);
    this.worker ??= new TimedWorker(() => builtFile('picture.worker'), limitMs);
    this.waiting += 1;
    try {
      return await this.worker.run(task, tooLong, signal);
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) this.idle = setTimeout(() => void this.close(), idleMs).unref();
    }
  }

  /** Ends the thread; a later picture starts another one. */
  async close(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = undefined;
    await worker?.close();
  }
}
