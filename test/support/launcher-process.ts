import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeProgram, services, type ProcessIdentity } from '#platform/local-stack';
import { cleanEnvironment, repositoryRoot } from '#platform/testing';

/** Every port random, so that nothing on the machine is in the way. */
export const randomPorts = Object.fromEntries(services.map(({ portVariable }) => [portVariable, '0']));

/** The launcher's entry itself, watching its standard input as the services do. */
function directly(): [string, ...string[]] {
  const { command, args } = nodeProgram('launcher');
  return [command, ...args()];
}

/** `npm start` without the build before it. */
export const throughNpm: readonly [string, ...string[]] = ['npm', 'run', 'start:built'];

/** `npm start` as a child process, with its output at hand. */
export class LauncherProcess {
  readonly lines: string[] = [];
  private readonly child: ChildProcess;
  private readonly waiting = new Set<() => void>();
  readonly exited: Promise<number | null>;

  /** `command`: how it is started; the end of the test's own process ends it in any case. */
  constructor(
    readonly dataDirectory: string,
    env: NodeJS.ProcessEnv = {},
    command: readonly [string, ...string[]] = directly(),
  ) {
    const [program, ...args] = command;
    this.child = spawn(program, args, {
      cwd: repositoryRoot,
      env: { ...cleanEnvironment(), ...randomPorts, MEGANEST_DATA_DIR: dataDirectory, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.exited = once(this.child, 'exit').then(([code]) => code as number | null);
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.receive(line));
    }
    void this.exited.then(() => this.wake());
  }

  private receive(line: string): void {
    this.lines.push(line);
    this.wake();
  }

  private wake(): void {
    for (const check of this.waiting) check();
  }

  get output(): string {
    return this.lines.join('\n');
  }

  /** Waits until a line after the first `after` lines matches. Errors: the launcher ended, with all it printed. */
  async line(pattern: RegExp, after = 0): Promise<string> {
    const find = () => this.lines.slice(after).find((line) => pattern.test(line));
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = find();
        if (found === undefined && this.child.exitCode === null && this.child.signalCode === null) return;
        this.waiting.delete(check);
        if (found === undefined) reject(new Error(`The launcher ended without ${pattern}:\n${this.output}`));
        else resolve(found);
      };
      this.waiting.add(check);
      check();
    });
  }

  /** Waits for the table that ends a start. */
  async ready(): Promise<void> {
    await this.line(/^Ctrl-C stops everything/);
  }

  /** URL of a part, from the table. */
  urlOf(name: string): string {
    const url = this.lines.map((line) => new RegExp(`^ {2}${name} +(\\S+)$`).exec(line)?.[1]).find(Boolean);
    if (url === undefined) throw new Error(`No URL of ${name} in:\n${this.output}`);
    return url;
  }

  /** What the launcher has started, by name. */
  children(): (ProcessIdentity & { name: string })[] {
    return JSON.parse(
      readFileSync(join(this.dataDirectory, 'processes.json'), 'utf8'),
    ) as (ProcessIdentity & {
      name: string;
    })[];
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Ends it in order and returns its exit code. */
  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.exited;
  }
}
