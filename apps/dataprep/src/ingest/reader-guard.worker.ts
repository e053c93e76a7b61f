/** Guard thread of a reader process: kills the process when it uses too much memory or when its service has ended. */
import process from 'node:process';
import { workerData } from 'node:worker_threads';
import type { ReaderLimits } from './prepare-document.js';

const lookEveryMs = 50;
const { maxMemoryBytes } = workerData as ReaderLimits;
const service = process.ppid;

setInterval(() => {
  const isOver = process.memoryUsage.rss() > maxMemoryBytes || process.ppid !== service;
  if (isOver) process.kill(process.pid, 'SIGKILL');
}, lookEveryMs);
