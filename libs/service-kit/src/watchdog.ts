import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** How often the event loop shows that it moves. */
const beatMs = 1_000;

/**
 * The watching thread. It counts its own turns, not the clock: a process that was suspended as a whole is not at fault.
 * It writes to standard error by itself, since the event loop that usually does so is the one that stands still.
 */
const program = `
const { workerData: { beats, everyMs, limitMs } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let seen = 0;
let quietMs = 0;
setInterval(() => {
  const now = Atomics.load(beats, 0);
  quietMs = now === seen ? quietMs + everyMs : 0;
  seen = now;
  if (quietMs < limitMs) return;
  try {
    writeSync(2, 'The event loop has stood still for ' + limitMs / 1000 + ' s; this process ends itself.\\n');
  } catch {}
  process.kill(process.pid, 'SIGKILL');
}, everyMs);
`;

/**
 * Ends this process, so that it is started again, when its event loop stands still for `limitMs`: nothing inside the
 * event loop could notice that, and no signal handler would run. 0, or a debugger, turns it off.
 */
export function startWatchdog(limitMs: number): void {
  if (limitMs === 0 || inspectorUrl() !== undefined) return;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const everyMs = Math.min(beatMs, limitMs / 4);
  setInterval(() => Atomics.add(beats, 0, 1), everyMs).unref();
  const thread = new Worker(program, {
    eval: true,
    workerData: { beats, everyMs, limitMs },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
    execArgv: [],
    stdin: false,
  });
  // Without the watchdog the process works all the same.
  thread.on('error', () => undefined);
  thread.unref();
}
