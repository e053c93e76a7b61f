/** A process that gets little processor time is given this many times the limit. */
const mostPatience = 12;

/**
 * Calls back when this process has used `limitMs` of processor time: on a busy machine a thread may wait for seconds before it
 * computes for milliseconds. Other threads of the process count too, so that the time is never shorter than `limitMs` and never
 * longer than twelve times that. Returns the end of the watch.
 * @param processorMs Processor time that this process has used.
 */
export function afterProcessorTime(
  limitMs: number,
  callback: () => void,
  processorMs: () => number = usedByProcess,
): () => void {
  const before = processorMs();
  let passedMs = 0;
  let waitMs = limitMs;
  const look = () => {
    passedMs += waitMs;
    const leftMs = Math.min(limitMs - (processorMs() - before), limitMs * mostPatience - passedMs);
    if (leftMs <= 0) {
      callback();
      return;
    }
    waitMs = Math.max(1, leftMs);
    timer = setTimeout(look, waitMs);
  };
  let timer = setTimeout(look, waitMs);
  return () => clearTimeout(timer);
}

function usedByProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
