import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** How often the event loop shows that it moves. */
const beatMs = 1_000;

/**
 * The watching thread. It counts its own turns, not the clock: a process that was suspended as a whole is not at fault.
 * It writes to standard error by itself, since the event loop that usually does so is the one that stands still.
 */
const program = `
const { workerData: { beats, everyMs, limitMs, noticeMs, slots, slotBytes } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let seen = 0;
let quietMs = 0;
let isNoticed = false;
function underWay() {
  const names = [];
  for (let start = 0; start < slots.length; start += slotBytes) {
    const length = slots[start];
    // Node's decoder does not read shared memory.
    if (length > 0) names.push(Buffer.from(slots.subarray(start + 1, start + 1 + length)).toString());
  }
  return names.length === 0 ? '' : ' Under way: ' + names.join(', ') + '.';
}
function say(text) {
  try {
    writeSync(2, text + underWay() + '\\n');
  } catch {}
}
setInterval(() => {
  const now = Atomics.load(beats, 0);
  quietMs = now === seen ? quietMs + everyMs : 0;
  seen = now;
  if (quietMs === 0) isNoticed = false;
  if (quietMs >= noticeMs && quietMs < limitMs && !isNoticed) {
    isNoticed = true;
    say('The event loop has stood still for ' + quietMs / 1000 + ' s.');
  }
  if (quietMs < limitMs) return;
  say('The event loop has stood still for ' + limitMs / 1000 + ' s; this process ends itself.');
  process.kill(process.pid, 'SIGKILL');
}, everyMs);
`;

/** Standstill after which the running work is written to the log: a launcher may end the process before the limit. */
const noticeAfterMs = 2_000;

/** Names of running work in shared memory: slots, each with the length of its name first. */
interface WorkUnderWay {
  readonly slots: Uint8Array;
  readonly slotBytes: number;
}

/**
 * Ends this process, so that it is started again, when its event loop stands still for `limitMs`: nothing inside the
 * event loop could notice that, and no signal handler would run. The log says what was under way. 0, or a debugger, turns
 * it off.
 */
export function startWatchdog(
  limitMs: number,
  { slots, slotBytes }: WorkUnderWay = { slots: new Uint8Array(), slotBytes: 1 },
): void {
  if (limitMs === 0 || inspectorUrl() !== undefined) return;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const everyMs = Math.min(beatMs, limitMs / 4);
  setInterval(() => Atomics.add(beats, 0, 1), everyMs).unref();
  const thread = new Worker(program, {
    eval: true,
    workerData: { beats, everyMs, limitMs, noticeMs: Math.min(noticeAfterMs, limitMs / 2), slots, slotBytes },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
    execArgv: [],
    stdin: false,
  });
  // Without the watchdog the process works all the same.
  thread.on('error', () => undefined);
  thread.unref();
}
