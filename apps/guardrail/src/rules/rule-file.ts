import { watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { EnvironmentError } from '#platform/service-kit';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { compileRules, type RuleSet } from './compile-rules.js';

/** Milliseconds without a change before the file is read, because editors write in several steps. */
const quietMs = 100;

/** Checks rules before they are activated. Throws an Error with the reason against them. */
export type RuleCheck = (rules: RuleSet) => void;

/** The active rules. Reloads a changed file. An invalid file keeps the previous rules and sets `problem`. */
export class RuleFile implements OnApplicationShutdown {
  /** The reason why the current file is not active. */
  problem?: string;
  private watcher?: FSWatcher;
  private timer?: NodeJS.Timeout;
  private reading: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly path: string,
    private readonly check: RuleCheck,
    private rules: RuleSet,
  ) {}

  /** Errors: EnvironmentError that names the file and its problem. */
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

  /** Watches the folder, because most programs replace a file instead of writing into it. */
  private watch(): void {
    this.watcher = watch(dirname(this.path), { persistent: false }, (_event, name) => {
      // A mounted configuration is replaced through a link with another name.
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
    new Logger('guardrail').warn(`${this.path}: ${this.problem}; the previous rules stay in force`);
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
