/**
 * Loaded before a service (`node --import …/exit-with-parent.js main.js`). Ends the service when its parent process is
 * gone, which closes standard input: first gracefully, as with Ctrl-C, then by force.
 */
import process from 'node:process';

const graceMs = 5_000;

function leave(): void {
  process.kill(process.pid, 'SIGTERM');
  setTimeout(() => process.exit(1), graceMs).unref();
}

process.stdin.on('end', leave).on('error', leave).resume();
// The watched input must not keep a service alive after its work has ended.
(process.stdin as Partial<{ unref(): void }>).unref?.();
