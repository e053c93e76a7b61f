import { spawn } from 'node:child_process';

/**
 * Ends process `pid` when this process dies, however it dies: a shell waits on a pipe whose other end only this process
 * holds. The pipe breaks with this process (then the shell kills `pid`), or says one line once `exited` resolves
 * (then the shell leaves). Needs a POSIX `sh`; costs about 1 MB.
 */
export function watchParentFor(pid: number, exited: Promise<unknown>): void {
  const watcher = spawn('/bin/sh', ['-c', 'read -r _ || kill -TERM "$1"', 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  void exited.then(() => watcher.stdin.end('done\n'));
}
