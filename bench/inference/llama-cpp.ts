import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { projectRoot } from '#platform/foundation';

/**
 * The used part of node-llama-cpp's API. The package is not a dependency of the project, so its types are not
 * available.
 */
interface LlamaLibrary {
  getLlama(options: { gpu: false; build: 'never'; progressLogs: false; logLevel: 'error' }): Promise<Llama>;
}
interface Llama {
  loadModel(options: { modelPath: string; gpuLayers: 0 }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}
interface LlamaModel {
  createContext(options: {
    sequences: number;
    contextSize: number;
    batchSize: number;
    threads: number;
  }): Promise<LlamaContext>;
}
interface LlamaContext {
  getSequence(): LlamaSequence;
}
interface LlamaSequence {
  evaluate(
    tokens: number[],
    options: { temperature: 0; yieldEogToken: true },
  ): AsyncGenerator<number, void | number>;
  clearHistory(): Promise<void>;
}

const folder = path.join(projectRoot, 'bench', 'peers', 'node-llama-cpp');

/** llama.cpp with one model and a number of sequences, which it evaluates in batches. */
export class LlamaCpp {
  private constructor(
    private readonly llama: Llama,
    private readonly sequences: readonly LlamaSequence[],
  ) {}

  /** Installs the package into its own folder on first use; the prebuilt program is for Linux on x64. */
  static async open(modelPath: string, sequences: number, threads: number): Promise<LlamaCpp> {
    const entry = path.join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
    if (!existsSync(entry)) {
      const flags = ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
      await promisify(execFile)('npm', flags, { cwd: folder });
    }
    const library = (await import(pathToFileURL(entry).href)) as LlamaLibrary;
    const llama = await library.getLlama({
      gpu: false,
      build: 'never',
      progressLogs: false,
      logLevel: 'error',
    });
    const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
    const contextSize = 1024;
    const context = await model.createContext({ sequences, contextSize, batchSize: 512, threads });
    return new LlamaCpp(
      llama,
      Array.from({ length: sequences }, () => context.getSequence()),
    );
  }

  /** Continues all prompts concurrently and greedily; returns the tokens of each. */
  async generate(prompts: readonly (readonly number[])[], maxTokens: number): Promise<number[][]> {
    return Promise.all(
      prompts.map((prompt, index) => this.continue(this.sequences[index]!, prompt, maxTokens)),
    );
  }

  close(): Promise<void> {
    return this.llama.dispose();
  }

  private async continue(
    sequence: LlamaSequence,
    prompt: readonly number[],
    maxTokens: number,
  ): Promise<number[]> {
    await sequence.clearHistory();
    const tokens: number[] = [];
    for await (const token of sequence.evaluate([...prompt], { temperature: 0, yieldEogToken: true })) {
      tokens.push(token);
      if (tokens.length === maxTokens) break;
    }
    return tokens;
  }
}
