/**
 * Loaded before a service (`node --import …/exit-with-parent.js main.js`): ends the service when the process that
 * started it is gone, which is when standard input ends. Asks politely first, as Ctrl-C would, then insists.
 */
import process from 'node:process';

const graceMs = 5_000;

function leave(): void {
  process.kill(process.pid, 'SIGTERM');
  setTimeout(() => process.exit(1), graceMs).unref();
}

process.stdin.on('end', leave).on('error', leave).resume();
// A watched input must not keep a service alive that has finished its work.
(process.stdin as Partial<{ unref(): void }>).unref?.();
