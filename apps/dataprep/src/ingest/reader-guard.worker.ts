/**
 * Guard thread of a reader process: ends the process when it uses too much memory or processor time, or when its
 * service has ended.
 */
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import {
  outOfProcessorTime,
  processorTimeMs,
  type ReaderDeadline,
  type ReaderLimits,
} from './reader/reader-limits.js';

const lookEveryMs = 50;
const { maxMemoryBytes } = workerData as ReaderLimits;
const service = process.ppid;
let deadline: ReaderDeadline = null;

parentPort?.on('message', (message: ReaderDeadline) => (deadline = message));
setInterval(() => {
  const isOver = process.memoryUsage.rss() > maxMemoryBytes || process.ppid !== service;
  if (isOver) process.kill(process.pid, 'SIGKILL');
  // Not the clock: beside busy processes, a harmless document may take minutes.
  if (deadline !== null && processorTimeMs() > deadline) process.kill(process.pid, outOfProcessorTime);
}, lookEveryMs);
