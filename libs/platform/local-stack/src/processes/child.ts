import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ChildOptions {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /**
   * How the child learns that this process was killed: `stdin`: its standard input ends (see exit-with-parent);
   * `watcher`: a one-line shell process ends it, for programs that do not watch their input.
   */
  lifeline: 'stdin' | 'watcher';
  onLine(line: OutputLine): void;
}

/** How a child ended. `error` is set if the child could not be started. */
export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  error?: Error;
}

export interface Child {
  pid: number | undefined;
  exited: Promise<ChildExit>;
  signal(signal: NodeJS.Signals): void;
}

/** Timeout for the last output of a dead child. */
const drainMs = 500;

function awaitExit(child: ChildProcess): Promise<ChildExit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('close', (code, signal) => resolve({ code, signal }));
    // A grandchild that inherited the pipes may keep them open after the end of the child.
    child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), drainMs).unref());
  });
}

/**
 * Starts a program in a separate process group, so that Ctrl-C reaches only this process. This process then stops its
 * children in order. A child does not outlive this process, even after SIGKILL.
 */
export function startChild(options: ChildOptions): Child {
  const child = spawn(options.command, options.args, {
    env: options.env,
    cwd: options.cwd,
    detached: true,
    stdio: [options.lifeline === 'stdin' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  if (child.stdout) readLines(child.stdout, (text) => options.onLine({ stream: 'stdout', text }));
  if (child.stderr) readLines(child.stderr, (text) => options.onLine({ stream: 'stderr', text }));
  const exited = awaitExit(child);
  if (options.lifeline === 'watcher' && child.pid !== undefined) watchParentFor(child.pid, exited);
  return { pid: child.pid, exited, signal: (signal) => child.kill(signal) };
}

/** One line that a child process printed. */
export interface OutputLine {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** Calls `onText` with every line of a stream, without its line end. */
function readLines(stream: Readable, onText: (text: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', onText);
}

/**
 * Ends process `pid` when this process dies for any reason. A shell reads from a pipe whose other end only this process
 * holds. If the pipe breaks, the shell kills `pid`. When `exited` resolves, this process writes a line and the shell
 * exits. Needs a POSIX `sh` and about 1 MB of memory.
 */
function watchParentFor(pid: number, exited: Promise<unknown>): void {
  const watcher = spawn('/bin/sh', ['-c', 'read -r _ || kill -TERM "$1"', 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  void exited.then(() => watcher.stdin.end('done\n'));
}
