import { watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { EnvironmentError } from '#service-kit';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { compileRules, type RuleSet } from './compile-rules.js';

/** Editors write in several steps: the file is read once it has been quiet for so long. */
const quietMs = 100;

/** Throws an Error that says why rules cannot be in force here. */
export type RuleCheck = (rules: RuleSet) => void;

/** The rules in force; follows changes of their file. One that breaks keeps the rules it had and says why. */
export class RuleFile implements OnApplicationShutdown {
  /** Why the file as it is now is not in force. */
  problem?: string;
  private watcher?: FSWatcher;
  private timer?: NodeJS.Timeout;
  private reading: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly path: string,
    private readonly check: RuleCheck,
    private rules: RuleSet,
  ) {}

  /** Errors: EnvironmentError that names the file and what is wrong with it. */
  static async open(path: string, check: RuleCheck = () => {}): Promise<RuleFile> {
    try {
      const file = new RuleFile(path, check, await readRules(path, check));
      file.watch();
      return file;
    } catch (cause) {
      throw new EnvironmentError(`GUARDRAIL_RULES: ${path}: ${messageOf(cause)}`, { cause });
    }
  }

  get current(): RuleSet {
    return this.rules;
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.watcher?.close();
  }

  /** The folder, since most programs replace a file instead of writing into it. */
  private watch(): void {
    this.watcher = watch(dirname(this.path), { persistent: false }, (_event, name) => {
      // Mounted configuration is swapped by a link of another name.
      if (name === null || name === basename(this.path) || name.startsWith('..')) this.schedule();
    });
    this.watcher.on('error', (error) => this.keep(error));
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.reading = this.reading.then(() => this.read());
    }, quietMs).unref();
  }

  private async read(): Promise<void> {
    try {
      const rules = await readRules(this.path, this.check);
      this.problem = undefined;
      if (rules.revision === this.rules.revision) return;
      this.rules = rules;
      const count = rules.rules.length + rules.labels.length;
      new Logger('guardrail').log(`${this.path}: ${count} rules in force (${rules.revision})`);
    } catch (error) {
      this.keep(error);
    }
  }

  private keep(error: unknown): void {
    this.problem = messageOf(error);
    new Logger('guardrail').warn(`${this.path}: ${this.problem}; the rules of before stay in force`);
  }
}

async function readRules(path: string, check: RuleCheck): Promise<RuleSet> {
  const rules = compileRules(await readFile(path, 'utf8'));
  check(rules);
  return rules;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
