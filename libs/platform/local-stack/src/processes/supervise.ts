import { builtFile } from '#platform/foundation';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild, type Child, type ChildExit, type ChildOptions, type OutputLine } from './child.js';
import { watchLiveness, type Liveness, type Readiness } from './readiness.js';

/** Exponential back-off between restarts. */
export interface RestartPolicy {
  initialMs: number;
  maxMs: number;
  /** A child that ran for this time before it died counts as healthy: the wait is reset to `initialMs`. */
  resetAfterMs: number;
}

export const defaultRestartPolicy: RestartPolicy = { initialMs: 250, maxMs: 15_000, resetAfterMs: 30_000 };

export type SupervisionEvent =
  | { type: 'started'; pid: number | undefined; attempt: number }
  | { type: 'ready'; afterMs: number }
  /** The child has not answered for this time, in which it did not compute, and is killed. */
  | { type: 'hung'; silentMs: number }
  | { type: 'exited'; exit: ChildExit; restartInMs: number | undefined }
  | { type: 'stopped' };

export interface SupervisionOptions {
  name: string;
  command: string;
  /** Evaluated before each start, so that a restart can reuse the port of the first start. */
  args(): readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  lifeline: ChildOptions['lifeline'];
  /** Resolves when the child is ready. Without it, a started child counts as ready. */
  readiness?: Readiness;
  /** Probe of the ready child. A child that hangs is killed, and restarted like a child that died. */
  liveness?: Liveness;
  /** Timeout of a start in milliseconds, after which the child is killed. Default 60,000. */
  startTimeoutMs?: number;
  /** `false`: a child that dies is not restarted. */
  restart: RestartPolicy | false;
  /** Wait between SIGTERM and SIGKILL on stop, in milliseconds. Default 5,000. */
  stopGraceMs?: number;
  onLine?(line: OutputLine): void;
  onEvent?(event: SupervisionEvent): void;
}

/** A child died or hung before it was ready. The message ends with its last lines. */
export class StartFailedError extends Error {
  constructor(
    readonly processName: string,
    reason: string,
    lastLines: readonly string[],
  ) {
    super([`${processName} ${reason}`, ...lastLines.map((line) => `  ${line}`)].join('\n'));
    this.name = 'StartFailedError';
  }
}

const rememberedLines = 30;

function describeExit(exit: ChildExit): string {
  if (exit.error) return `could not be started: ${exit.error.message}`;
  return exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
}

/** A program that is kept running until `stop()`. Create it with `superviseProcess`. */
export class SupervisedProcess {
  private child: Child | undefined;
  private ready: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private readonly finished: Promise<void>;
  private readonly listeners = new Set<(line: OutputLine) => void>();
  private lastLines: string[] = [];
  private lastExit: ChildExit = { code: null, signal: null };

  constructor(private readonly options: SupervisionOptions) {
    this.start(1);
    this.finished = this.run();
  }

  get name(): string {
    return this.options.name;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Resolves when the current run of the child is ready; rejects with StartFailedError if its start fails. */
  whenReady(): Promise<void> {
    return this.ready;
  }

  /** Resolves when the child has ended and will not be restarted: stopped, or dead without a restart policy. */
  async whenFinished(): Promise<ChildExit> {
    await this.finished;
    return this.lastExit;
  }

  /** Sends a signal to the child; for tests and for reload. */
  signal(signal: NodeJS.Signals): void {
    this.child?.signal(signal);
  }

  /** Stops the child: SIGTERM, then SIGKILL after the grace period. Resolves when it has ended. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.stopping.signal.aborted) {
      this.stopping.abort(new Error(`${this.name} is being stopped`));
      void this.terminate(this.child);
    }
    await this.finished;
  }

  private async terminate(child: Child | undefined): Promise<void> {
    if (!child) return;
    child.signal('SIGTERM');
    const grace = new AbortController();
    const overdue = delay(this.options.stopGraceMs ?? 5_000, true, { signal: grace.signal }).catch(
      () => false,
    );
    if (await Promise.race([overdue, child.exited.then(() => false)])) child.signal('SIGKILL');
    grace.abort();
  }

  private start(attempt: number): Child {
    this.lastLines = [];
    this.listeners.clear();
    const child = startChild({
      ...this.options,
      args: this.options.args(),
      env: this.options.env ?? process.env,
      onLine: (line) => this.receive(line),
    });
    this.child = child;
    this.ready = this.awaitReadiness(child);
    // A caller of whenReady() sees the failure. Without a caller the rejection must not count as unhandled.
    this.ready.catch(() => undefined);
    this.options.onEvent?.({ type: 'started', pid: child.pid, attempt });
    return child;
  }

  private receive(line: OutputLine): void {
    this.lastLines = [...this.lastLines.slice(1 - rememberedLines), line.text];
    for (const listener of this.listeners) listener(line);
    this.options.onLine?.(line);
  }

  private async awaitReadiness(child: Child): Promise<void> {
    const startedAt = performance.now();
    const gone = new AbortController();
    const fail = (reason: string) => gone.abort(new StartFailedError(this.name, reason, this.lastLines));
    const timeoutMs = this.options.startTimeoutMs ?? 60_000;
    const timer = setTimeout(() => {
      fail(`was not ready after ${timeoutMs} ms`);
      child.signal('SIGKILL');
    }, timeoutMs);
    void child.exited.then((exit) => fail(describeExit(exit)));
    try {
      await this.options.readiness?.({
        onLine: (listener) => this.listeners.add(listener),
        signal: gone.signal,
      });
      this.options.onEvent?.({ type: 'ready', afterMs: performance.now() - startedAt });
      void this.watch(child);
    } catch (error) {
      throw gone.signal.aborted ? gone.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async watch(child: Child): Promise<void> {
    if (!this.options.liveness) return;
    const over = new AbortController();
    void child.exited.then(() => over.abort());
    const signal = AbortSignal.any([over.signal, this.stopping.signal]);
    if (!(await watchLiveness(this.options.liveness, signal, child.pid))) return;
    const { intervalMs, misses } = this.options.liveness;
    this.options.onEvent?.({ type: 'hung', silentMs: intervalMs * misses });
    child.signal('SIGKILL');
  }

  private async run(): Promise<void> {
    let failures = 0;
    for (let attempt = 2; this.child; attempt++) {
      const startedAt = performance.now();
      this.lastExit = await this.child.exited;
      const policy = this.stopping.signal.aborted ? false : this.options.restart;
      failures = policy && performance.now() - startedAt >= policy.resetAfterMs ? 0 : failures;
      const restartInMs = policy ? Math.min(policy.maxMs, policy.initialMs * 2 ** failures++) : undefined;
      if (!this.stopping.signal.aborted)
        this.options.onEvent?.({ type: 'exited', exit: this.lastExit, restartInMs });
      this.child = undefined;
      this.ready = Promise.reject(
        new StartFailedError(this.name, describeExit(this.lastExit), this.lastLines),
      );
      this.ready.catch(() => undefined);
      if (restartInMs === undefined || !(await this.pause(restartInMs))) break;
      this.start(attempt);
    }
    this.options.onEvent?.({ type: 'stopped' });
  }

  /** Waits. Returns false if the process was stopped in the meantime. */
  private async pause(milliseconds: number): Promise<boolean> {
    await delay(milliseconds, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    return !this.stopping.signal.aborted;
  }
}

/** Starts a program and keeps it running: restarts with exponential back-off, a readiness probe, a graceful stop. */
export function superviseProcess(options: SupervisionOptions): SupervisedProcess {
  return new SupervisedProcess(options);
}

/**
 * Waits until a child is ready. If its start fails, or if `signal` aborts, the child is stopped before the error is
 * thrown. Errors: StartFailedError.
 */
export async function whenReadyOrStopped(child: SupervisedProcess, signal?: AbortSignal): Promise<void> {
  const giveUp = () => void child.stop();
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    if (signal?.aborted) giveUp();
    await child.whenReady();
  } catch (error) {
    await child.stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Common options for the start of a NATS server and of the embedded Postgres. */
export interface ServerOptions
  extends Pick<SupervisionOptions, 'onLine' | 'onEvent'>, Partial<Pick<SupervisionOptions, 'restart'>> {
  /** Default 0: a free port, which a restart keeps. */
  port?: number;
  /** Aborts a start that is not needed any more. */
  signal?: AbortSignal;
}

/** A server that was started and is ready. */
export interface RunningServer {
  process: SupervisedProcess;
  /** Resolves when the server has ended and will not be restarted. */
  exited: Promise<ChildExit>;
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. Errors: StartFailedError. */
export async function startServer(
  { restart = false, signal, onLine, onEvent }: ServerOptions,
  program: Omit<SupervisionOptions, keyof ServerOptions>,
): Promise<RunningServer> {
  const server = superviseProcess({ ...program, restart, onLine, onEvent });
  await whenReadyOrStopped(server, signal);
  return { process: server, exited: server.whenFinished(), stop: () => server.stop() };
}

/**
 * Variables of every Node process that is started here; the user's variables override them. With this variable glibc
 * asks for huge pages, if the kernel leaves this choice to programs. Each token reads all weights of a model, and huge
 * pages reduce the time of the page lookups.
 */
export const programVariables = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' } as const;

/**
 * Options to run a built program by its name as a supervised Node process that ends with its parent. The program itself
 * does not need code for this. Errors: the program is not built.
 */
export function nodeProgram(
  name: string,
  ...parameters: string[]
): Pick<SupervisionOptions, 'command' | 'args' | 'lifeline'> {
  const exitWithParent = builtFile('exit-with-parent');
  const path = builtFile(name);
  return {
    command: process.execPath,
    args: () => ['--enable-source-maps', '--import', exitWithParent, path, ...parameters],
    lifeline: 'stdin',
  };
}
